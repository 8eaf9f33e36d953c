/** What the store acknowledged is on disk: by counting syncs, by replaying only what was synced, and by killing the writer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReads } from '../../main/store/reads.js';
import { makeFolder, openTestStore, silent, startMs, type Folder } from './builders.js';
import { compile, type Compiled } from './compile.js';
import { buildRecorder, Disk, record, recorderMissing, type Operation } from './recorder.js';

let programs: Compiled;
let folder: Folder;

beforeAll(async () => {
  programs = await compile({ committer: 'test/store/children/committer.ts' });
  folder = makeFolder();
});
afterAll(() => {
  programs.remove();
  folder.remove();
});

/** Acknowledged batches, each of three jobs. */
function acknowledged(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Opens the database as a restarted host would and looks for every acknowledged job, each over. */
function expectAllThere(database: string, batches: readonly string[]): void {
  const store = openTestStore(database);
  try {
    expect(store.integrity()).toEqual([]);
    for (const batch of batches) {
      for (const number of [1, 2, 3]) {
        expect(store.findJob(`${batch}-${number}`)).toEqual({
          state: 'SUCCEEDED',
          rootId: `${batch}-${number}`,
        });
      }
    }
  } finally {
    store.close();
  }
}

const missing = recorderMissing();
if (missing !== null && process.env['CI'] === 'true') throw new Error(missing);

describe.skipIf(missing !== null)(
  `recorded file operations${missing === null ? '' : ` (left out: ${missing})`}`,
  () => {
    const batches = 16;
    let data: string;
    let operations: Operation[];

    beforeAll(() => {
      data = join(folder.path, 'recorded');
      const library = buildRecorder(folder.path);
      const recorded = makeFolder();
      data = recorded.path;
      operations = record(
        library,
        programs.file('committer'),
        [recorded.database, join(data, 'acknowledged'), String(batches), '5'],
        data,
        join(folder.path, 'operations'),
      );
      recorded.remove();
    });

    it('syncs the write-ahead log once for each commit before it is acknowledged', () => {
      const log = join(data, 'iris.db-wal');
      let commits = 0;
      let unsynced = false;
      const syncsOfBatches: number[] = [];
      let first = true;
      for (const operation of operations) {
        if (operation.path === log && operation.kind === 'written') unsynced = true;
        if (operation.path === log && operation.kind === 'synced' && unsynced) {
          commits += 1;
          unsynced = false;
        }
        if (operation.path === join(data, 'acknowledged') && operation.kind === 'written') {
          expect(unsynced).toBe(false);
          // Opening and migrating belongs to no batch.
          if (!first) syncsOfBatches.push(commits);
          first = false;
          commits = 0;
        }
      }
      expect(syncsOfBatches).toHaveLength(batches - 1);
      // Four commits a batch. The log's header, when it starts anew after a checkpoint, is synced by itself.
      expect(syncsOfBatches.filter((count) => count !== 4 && count !== 5)).toEqual([]);
      expect(syncsOfBatches.filter((count) => count === 4).length).toBeGreaterThan(batches / 2);
    });

    it.each([
      ['nothing that was not synced', () => false],
      ['every other write that was not synced', (operation: Operation) => operation.offset % 8192 < 4096],
      ['everything but what cut or grew a file', (operation: Operation) => operation.kind === 'written'],
    ] as const)(
      'has every acknowledged job after a power cut that keeps %s',
      (_name, kept) => {
        const isAcknowledgement = (operation: Operation) =>
          operation.path === join(data, 'acknowledged') && operation.kind === 'written';
        const disk = new Disk(data);
        const target = join(folder.path, 'replayed');
        let expected: string[] = [];
        let opened = 0;
        for (const [index, operation] of operations.entries()) {
          disk.apply(operation);
          if (isAcknowledgement(operation))
            expected = [...expected, ...acknowledged(operation.data.toString('utf8'))];
          // After each acknowledgement, and at odd places in the middle of a batch.
          if (!isAcknowledgement(operation) && index % 151 !== 5 && index !== operations.length - 1) continue;
          rmSync(target, { recursive: true, force: true });
          disk.cutPower(target, kept);
          const database = join(target, 'iris.db');
          if (expected.length > 0) expect(existsSync(database)).toBe(true);
          if (!existsSync(database)) continue;
          expectAllThere(database, expected);
          opened += 1;
        }
        expect(expected).toHaveLength(batches);
        expect(opened).toBeGreaterThan(batches);
      },
      60_000,
    );
  },
);

describe('a writer killed at any moment', () => {
  it('loses nothing that was acknowledged', async () => {
    const acknowledgements = join(folder.path, 'killed-acknowledged');
    const database = join(folder.path, 'killed.db');
    for (let round = 0; round < 8; round++) {
      const before = existsSync(acknowledgements) ? statSync(acknowledgements).size : 0;
      const child = spawn(
        process.execPath,
        [programs.file('committer'), database, acknowledgements, '0', '5'],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      const ended = once(child, 'exit');
      // Some acknowledgements must be there; the exact moment of the kill then falls anywhere in the work on the next ones.
      await expect
        .poll(() => (existsSync(acknowledgements) ? statSync(acknowledgements).size : 0), {
          timeout: 60_000,
          interval: 1 + round,
        })
        .toBeGreaterThan(before + 100 * round);
      child.kill('SIGKILL');
      await ended;
      expectAllThere(database, acknowledged(readFileSync(acknowledgements, 'utf8')));
    }
  }, 60_000);

  it('leaves a database that readers can open', () => {
    const reads = openReads({ path: join(folder.path, 'killed.db'), nowMs: () => startMs, log: silent });
    const counts = reads.counts();
    const page = reads.jobList({}, { key: 'submitted', descending: true }, 0, 10);
    reads.close();
    expect(page.total).toBe(counts.finished + counts.running + counts.waiting);
    expect(page.rows).toHaveLength(10);
  });
});
