/** Frames between threads of one process: as they are, or as the bytes of their JSON text where those are many. */
import type { HostFrame } from '../../core/contract/host-frames.js';

export type LinkFrame = HostFrame | Uint8Array;

/** For who reads it; who passes it on needs no text. */
export function readLinkFrame(frame: LinkFrame): unknown {
  if (!(frame instanceof Uint8Array)) return frame;
  return JSON.parse(
    Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('utf8'),
  ) as unknown;
}
