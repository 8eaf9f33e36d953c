/** A disk that fills up while committing: refused with the cause, nothing half kept, and all well once there is space again. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import { backupSync } from '../../main/store/backups.js';
import { openConnection } from '../../main/store/connection.js';
import type { Store } from '../../main/store/types.js';
import {
  changes,
  lifeOfJob,
  makeJob,
  makeSpec,
  makeTask,
  openTestStore,
  silent,
  together,
} from './builders.js';

function missing(): string | null {
  if (process.platform !== 'linux') return 'a small file system needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a small file system needs root';
  return null;
}

const reason = missing();
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);

describe.skipIf(reason !== null)(`a full disk${reason === null ? '' : ` (left out: ${reason})`}`, () => {
  let folder: string;
  let store: Store;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'iris-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=0700', 'tmpfs', folder]);
    store = openTestStore(join(folder, 'iris.db'));
  });
  afterAll(() => {
    store.close();
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** A job whose specification takes some room. */
  function large(id: string) {
    const job = makeJob(id, { spec: makeSpec({ environment: { FILLER: 'x'.repeat(20_000) } }) });
    return changes({ jobs: [job], tasks: [makeTask(job)] });
  }

  it('refuses a commit with the cause and keeps nothing of it, but all before it', () => {
    const kept: string[] = [];
    let refused: RefusalError | null = null;
    for (let number = 0; refused === null && number < 1000; number++) {
      const id = `/ann/job-${number}`;
      try {
        store.commit(large(id));
        kept.push(id);
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
        refused = error;
        expect(store.findJob(id)).toBeNull();
      }
    }
    expect(kept.length).toBeGreaterThan(5);
    expect(refused?.refusal.code).toBe('STORAGE_FAILED');
    expect(refused?.message).toMatch(/SQLITE_(FULL|IOERR)/);
    expect(refused?.message).toContain(join(folder, 'iris.db'));
    for (const id of kept) expect(store.findJob(id)?.state).toBe('PENDING');
    // Trying again gives the same refusal, not another.
    expect(() => store.commit(large('/ann/again'))).toThrow(/SQLITE_(FULL|IOERR)/);
    expect(store.loadLive().jobs.map((job) => job.id)).toEqual(kept);
  });

  it('goes on once there is space', () => {
    execFileSync('mount', ['-o', 'remount,size=64m', folder]);
    store.commit(together(lifeOfJob('/ann/after')));
    expect(store.integrity()).toEqual([]);
    store.close();
    store = openTestStore(join(folder, 'iris.db'));
    expect(store.findJob('/ann/after')?.state).toBe('SUCCEEDED');
  });

  it('says so when it cannot even make the database', () => {
    execFileSync('mount', ['-o', 'remount,size=64m', folder]);
    const filler = join(folder, 'filler');
    try {
      writeFileSync(filler, Buffer.alloc(80_000_000));
    } catch {
      // Full now, which is what was wanted.
    }
    let refused: RefusalError | null = null;
    try {
      openTestStore(join(folder, 'other.db')).close();
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      refused = error;
    }
    expect(refused?.refusal.code).toBe('STORAGE_FAILED');
    rmSync(filler);
    openTestStore(join(folder, 'other.db')).close();
  });

  it('leaves nothing of a copy for which there is no room', () => {
    const connection = openConnection(join(folder, 'iris.db'), silent, { readOnly: false });
    const filler = join(folder, 'filler');
    const file = openSync(filler, 'w');
    try {
      for (;;) writeSync(file, Buffer.alloc(4096));
    } catch {
      // Full now, but for what a part of the copy needs.
      ftruncateSync(file, fstatSync(file).size - 200_000);
    } finally {
      closeSync(file);
    }
    const copying = () => backupSync(connection, 'before-v99', Date.now());
    try {
      expect(copying).toThrow(/SQLITE_(FULL|IOERR)/);
    } finally {
      connection.close();
      rmSync(filler);
    }
    expect(readdirSync(join(folder, 'backups'))).toEqual([]);
  });
});
