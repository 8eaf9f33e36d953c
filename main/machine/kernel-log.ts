/** Errors of cards as the kernel's log tells them; many systems let only administrators read it. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { parseXid, type Xid } from '../../core/formats/nvidia-smi/xid.js';

const deviceFile = '/dev/kmsg';
/** A log that grows faster than it is read must not hold this program. */
const mostRecords = 20_000;

export interface ErrorLog {
  readable(): boolean;
  /** What was written since the last call. */
  read(): readonly Xid[];
  close(): void;
}

export class KernelLog implements ErrorLog {
  private file: number | null = null;
  private failed = false;
  private readonly buffer = Buffer.alloc(8192);

  constructor(private readonly path = deviceFile) {}

  readable(): boolean {
    return this.open() !== null;
  }

  /** What was written since the last call; at first since the machine started. */
  read(): readonly Xid[] {
    const file = this.open();
    if (file === null) return [];
    const found: Xid[] = [];
    for (let count = 0; count < mostRecords; count += 1) {
      let length: number;
      try {
        // The kernel gives one record a call.
        length = readSync(file, this.buffer, 0, this.buffer.length, null);
      } catch (error) {
        // Records that were overwritten before they were read: it goes on with the oldest there is.
        if (error instanceof Error && 'code' in error && error.code === 'EPIPE') continue;
        break; // EAGAIN: nothing more now
      }
      if (length === 0) break;
      for (const line of this.buffer.toString('latin1', 0, length).split('\n')) {
        const xid = line.includes('NVRM: Xid') ? parseXid(line) : null;
        if (xid !== null) found.push(xid);
      }
    }
    return found;
  }

  close(): void {
    if (this.file !== null) closeSync(this.file);
    this.file = null;
    this.failed = true;
  }

  private open(): number | null {
    if (this.file !== null || this.failed) return this.file;
    try {
      this.file = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch {
      this.failed = true; // not permitted, or not this system
    }
    return this.file;
  }
}
