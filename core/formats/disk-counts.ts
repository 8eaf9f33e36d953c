/** What the disks of a machine have read and written, as Linux counts it (/proc/diskstats). */

export interface DiskCounts {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

export interface DiskRates {
  readonly readBytesPerSecond: number;
  readonly writtenBytesPerSecond: number;
}

/** The kernel's unit there, whatever the disk's own is. */
const sectorBytes = 512;

/**
 * Together; `isDisk`: a device of its own, no part of one and nothing made of others (a partition, a loop, an array), which would count
 * the same bytes again. Null: there is none.
 */
export function readDiskCounts(text: string, isDisk: (name: string) => boolean): DiskCounts | null {
  const rows = text.split('\n').flatMap((row) => {
    const [, , name = '', , , read, , , , written] = row.trim().split(/\s+/);
    const [readSectors, writtenSectors] = [Number(read), Number(written)];
    return name !== '' && isDisk(name) && Number.isFinite(readSectors) && Number.isFinite(writtenSectors)
      ? [{ readSectors, writtenSectors }]
      : [];
  });
  if (rows.length === 0) return null;
  return {
    readBytes: rows.reduce((sum, { readSectors }) => sum + readSectors, 0) * sectorBytes,
    writtenBytes: rows.reduce((sum, { writtenSectors }) => sum + writtenSectors, 0) * sectorBytes,
  };
}

/** From one count to the next. */
export class DiskMeter {
  private before: (DiskCounts & { readonly atMs: number }) | null = null;

  /** `atMs` by a clock that only goes forward. Null at first, and where nothing is counted or a disk has gone. */
  rates(counts: DiskCounts | null, atMs: number): DiskRates | null {
    const { before } = this;
    this.before = counts === null ? null : { ...counts, atMs };
    if (counts === null || before === null || atMs <= before.atMs) return null;
    const seconds = (atMs - before.atMs) / 1000;
    const read = counts.readBytes - before.readBytes;
    const written = counts.writtenBytes - before.writtenBytes;
    if (read < 0 || written < 0) return null;
    return {
      readBytesPerSecond: Math.round(read / seconds),
      writtenBytesPerSecond: Math.round(written / seconds),
    };
  }
}
