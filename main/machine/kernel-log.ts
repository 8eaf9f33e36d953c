/** Errors of cards as the kernel's log tells them; many systems let only administrators read it. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { parseXid, type Xid } from '../../core/formats/nvidia-smi/xid.js';

const deviceFile = '/dev/kmsg';
/** Records that are read in one go, in about 20 ms. */
const usualSlice = 4000;
/** Slices of what is new; a log that grows faster than it is read must not hold this program. */
const mostNewSlices = 5;
/** Slices of what was there at first: more than any kernel keeps. */
const mostSlices = 1000;

export interface ErrorLog {
  readable(): boolean;
  /** Passes over what was written before; resolves when all of it is behind. */
  settle?(): Promise<void>;
  /** What was written since the last call. */
  read(): readonly Xid[];
  close(): void;
}

export class KernelLog implements ErrorLog {
  private file: number | null = null;
  private failed = false;
  private readonly buffer = Buffer.alloc(8192);

  constructor(
    private readonly path = deviceFile,
    private readonly slice = usualSlice,
  ) {}

  readable(): boolean {
    return this.open() !== null;
  }

  /** However much it is, nothing of it may be left to be read as news; in slices, between which others have their turn. */
  async settle(): Promise<void> {
    for (let slices = 0; slices < mostSlices && !this.take().ended; slices += 1)
      await new Promise<void>((resolve) => void setImmediate(resolve));
  }

  read(): readonly Xid[] {
    const found: Xid[] = [];
    for (let slices = 0; slices < mostNewSlices; slices += 1) {
      const slice = this.take();
      found.push(...slice.found);
      if (slice.ended) break;
    }
    return found;
  }

  /** `ended`: there is nothing more now. */
  private take(): { readonly found: readonly Xid[]; readonly ended: boolean } {
    const file = this.open();
    const found: Xid[] = [];
    if (file === null) return { found, ended: true };
    for (let count = 0; count < this.slice; count += 1) {
      let length: number;
      try {
        // The kernel gives one record a call.
        length = readSync(file, this.buffer, 0, this.buffer.length, null);
      } catch (error) {
        // Records that were overwritten before they were read: it goes on with the oldest there is.
        if (error instanceof Error && 'code' in error && error.code === 'EPIPE') continue;
        return { found, ended: true }; // EAGAIN: nothing more now
      }
      if (length === 0) return { found, ended: true };
      for (const line of this.buffer.toString('latin1', 0, length).split('\n')) {
        const xid = line.includes('NVRM: Xid') ? parseXid(line) : null;
        if (xid !== null) found.push(xid);
      }
    }
    return { found, ended: false };
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
