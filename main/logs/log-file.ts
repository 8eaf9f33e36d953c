/** Reads of one log file by range. A log that is not there (nothing was started, or retention took it) is empty. */
import { open, stat } from 'node:fs/promises';
import type { LogRange } from '../backends/backend.js';

const nothing: LogRange = { data: new Uint8Array(0), size: 0 };

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** At most `maxBytes` from `offset`, put in `into` where they fit, and the size the file had. Less is returned only at the end. */
export async function readRange(
  file: string,
  offset: number,
  maxBytes: number,
  into?: Uint8Array,
): Promise<LogRange> {
  try {
    if (maxBytes <= 0) return { data: nothing.data, size: (await stat(file)).size };
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      const wanted = Math.max(0, Math.min(maxBytes, size - offset));
      const data = into !== undefined && into.length >= wanted ? into : new Uint8Array(wanted);
      let filled = 0;
      while (filled < wanted) {
        const { bytesRead } = await handle.read(data, filled, wanted - filled, offset + filled);
        if (bytesRead === 0) break; // cut by somebody meanwhile
        filled += bytesRead;
      }
      return { data: data.subarray(0, filled), size };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return nothing;
    throw error;
  }
}
