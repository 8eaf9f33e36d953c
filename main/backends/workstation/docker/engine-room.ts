/**
 * How much room an Engine has for its data. Its sentence alone is no certain word of a full disk: what it says depends on what it was
 * doing, a part of a fetched image is removed again before anybody looks, and of a container's log it says nothing at all.
 */
import os from 'node:os';
import { statfs } from 'node:fs/promises';
import { isFull, type DataRoom } from '../../../../core/formats/docker/data-room.js';

/** Of a folder on the Engine's machine; `machine` is its host name by the Engine's own word. Null: it cannot be told. */
export type ReadRoom = (folder: string, machine: string) => Promise<DataRoom | null>;

/** An Engine in a machine of its own, or behind a socket handed in from outside, keeps its data where this program cannot look. */
export const localRoom: ReadRoom = async (folder, machine) => {
  if (machine !== os.hostname()) return null;
  try {
    const { blocks, bavail, bsize, files, ffree } = await statfs(folder);
    if (blocks === 0) return null;
    // Without a file to give out it is as full as without a byte.
    const freeBytes = files > 0 && ffree === 0 ? 0 : bavail * bsize;
    return { path: folder, totalBytes: blocks * bsize, freeBytes };
  } catch {
    return null; // not there, or not to be looked at
  }
};

type Told = (room: DataRoom) => void;

export interface EngineRoomOptions {
  readonly read: ReadRoom;
  /** By the Engine's own word; none while it has not given it. */
  readonly where: () => { readonly folders: readonly string[]; readonly machine: string } | null;
  readonly everyMs: number;
  /** It was seen full, whoever looked. */
  readonly onFull: Told;
}

/** A file system that does not answer holds up nothing. */
const answerMs = 5000;

export class EngineRoom {
  private readonly watchers = new Set<Told>();
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<DataRoom | null> | null = null;

  constructor(private readonly options: EngineRoomOptions) {}

  /** The fullest of its folders, now; one look at a time. */
  look(): Promise<DataRoom | null> {
    this.looking ??= this.read().then((room) => {
      this.looking = null;
      if (room !== null && isFull(room))
        for (const told of [...this.watchers, this.options.onFull]) told(room);
      return room;
    });
    return this.looking;
  }

  /** Tells each time it is seen full, until the returned function is called. */
  watch(onFull: Told): () => void {
    // The same function may be given twice.
    const told: Told = (room) => onFull(room);
    this.watchers.add(told);
    this.timer ??= setInterval(() => void this.look(), this.options.everyMs).unref();
    return () => {
      this.watchers.delete(told);
      if (this.watchers.size === 0) this.close();
    };
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private async read(): Promise<DataRoom | null> {
    const place = this.options.where();
    const rooms = await Promise.all(
      (place?.folders ?? []).map((one) => this.readOne(one, place?.machine ?? '')),
    );
    return rooms.reduce(
      (least, room) => (least === null || (room !== null && room.freeBytes < least.freeBytes) ? room : least),
      null,
    );
  }

  private async readOne(folder: string, machine: string): Promise<DataRoom | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), answerMs).unref();
    });
    const read = this.options.read(folder, machine).catch(() => null);
    const room = await Promise.race([read, late]);
    clearTimeout(timer);
    return room;
  }
}
