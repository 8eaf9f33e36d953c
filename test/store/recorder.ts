/** Runs a program with its file operations recorded (record-io.c), and makes the files as a power cut would have left them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface Operation {
  readonly kind: 'created' | 'written' | 'resized' | 'synced' | 'removed';
  readonly path: string;
  /** Where data went, or the new size. */
  readonly offset: number;
  readonly data: Buffer;
}

const kinds: Readonly<Record<string, Operation['kind']>> = {
  C: 'created',
  W: 'written',
  T: 'resized',
  S: 'synced',
  U: 'removed',
};

/** Why recording cannot work here; null when it can. */
export function recorderMissing(): string | null {
  if (process.platform !== 'linux') return 'recording file operations needs Linux';
  const compiler = spawnSync('gcc', ['--version']);
  return compiler.error === undefined
    ? null
    : 'recording file operations needs gcc (Debian: apt-get install gcc libc6-dev)';
}

export function buildRecorder(folder: string): string {
  const library = join(folder, 'record-io.so');
  execFileSync('gcc', [
    '-O1',
    '-shared',
    '-fPIC',
    '-o',
    library,
    join(import.meta.dirname, 'record-io.c'),
    '-ldl',
    '-lpthread',
  ]);
  return library;
}

export function record(
  library: string,
  program: string,
  args: readonly string[],
  folder: string,
  log: string,
): Operation[] {
  const result = spawnSync(process.execPath, [program, ...args], {
    env: { ...process.env, LD_PRELOAD: library, RECORD_FOLDER: folder, RECORD_LOG: log },
    encoding: 'utf8',
  });
  if (result.status !== 0)
    throw new Error(`the recorded program ended with ${result.status}: ${result.stderr}`);
  return parseLog(readFileSync(log));
}

function parseLog(log: Buffer): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < log.length;) {
    const letter = log.toString('latin1', at, at + 1);
    const pathLength = log.readUInt16LE(at + 1);
    const offset = Number(log.readBigUInt64LE(at + 3));
    const dataLength = log.readUInt32LE(at + 11);
    const pathAt = at + 15;
    const kind = kinds[letter];
    if (kind === undefined) throw new Error(`record of unknown kind ${letter} at ${at}`);
    operations.push({
      kind,
      path: log.toString('utf8', pathAt, pathAt + pathLength),
      offset,
      data: log.subarray(pathAt + pathLength, pathAt + pathLength + dataLength),
    });
    at = pathAt + pathLength + dataLength;
  }
  return operations;
}

/** A file's content, which grows without being copied for each write. */
class Content {
  private buffer = Buffer.alloc(0);
  private size = 0;

  static copyOf(other: Content): Content {
    const copy = new Content();
    copy.buffer = Buffer.from(other.bytes());
    copy.size = other.size;
    return copy;
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.size);
  }

  apply({ kind, offset, data }: Operation): void {
    const size = kind === 'written' ? Math.max(this.size, offset + data.length) : offset;
    if (size > this.buffer.length) {
      const larger = Buffer.alloc(size * 2);
      this.bytes().copy(larger);
      this.buffer = larger;
    }
    // What was cut off reads as zeros when the file grows again.
    if (size < this.size) this.buffer.fill(0, size, this.size);
    this.size = size;
    if (kind === 'written') data.copy(this.buffer, offset);
  }
}

interface FileState {
  readonly synced: Content;
  /** Asked for since the last sync. */
  unsynced: Operation[];
  /** Its name is on disk: its folder was synced after it was made. */
  named: boolean;
}

/** What is on the disk under one folder while operations go by. */
export class Disk {
  private readonly files = new Map<string, FileState>();

  constructor(private readonly folder: string) {}

  apply(operation: Operation): void {
    const { kind, path } = operation;
    if (kind === 'synced' && path === this.folder) {
      for (const file of this.files.values()) file.named = true;
      return;
    }
    if (kind === 'removed') {
      this.files.delete(path);
      return;
    }
    const file = this.files.get(path) ?? { synced: new Content(), unsynced: [], named: false };
    this.files.set(path, file);
    if (kind === 'written' || kind === 'resized') file.unsynced.push(operation);
    if (kind === 'synced') {
      for (const waiting of file.unsynced) file.synced.apply(waiting);
      file.unsynced = [];
    }
  }

  /**
   * Puts into `target` what a power cut would leave now: what was synced, and of what was not only what `kept` says, since a disk
   * may have written any of it.
   */
  cutPower(target: string, kept: (operation: Operation) => boolean): void {
    mkdirSync(target, { recursive: true });
    for (const [path, file] of this.files) {
      // The index of the write-ahead log lives in shared memory and is made anew.
      if (!file.named || dirname(path) !== this.folder || path.endsWith('-shm')) continue;
      const content = Content.copyOf(file.synced);
      for (const operation of file.unsynced.filter(kept)) content.apply(operation);
      writeFileSync(join(target, basename(path)), content.bytes());
    }
  }
}
