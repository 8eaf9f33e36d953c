/** The reader's thread: answers, refusals, and what happens when it dies or hangs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import { openReader } from '../../main/store/reader.js';
import { openReads } from '../../main/store/reads.js';
import type { AsyncReads, Store } from '../../main/store/types.js';
import {
  lifeOfJob,
  makeFolder,
  openTestStore,
  recordingLog,
  silent,
  startMs,
  together,
  type Folder,
} from './builders.js';
import { compile, type Compiled } from './compile.js';

let programs: Compiled;
let folder: Folder;
let store: Store;
let reader: AsyncReads | null = null;

beforeAll(async () => {
  programs = await compile({ 'reader-worker': 'main/store/reader-worker.ts' });
  folder = makeFolder();
  store = openTestStore(folder.database);
  store.commit(together(['one', 'two', 'three'].flatMap((name) => lifeOfJob(`/ann/${name}`))));
});
afterEach(async () => {
  await reader?.close();
  reader = null;
});
afterAll(() => {
  store.close();
  folder.remove();
  programs.remove();
});

const newest = { key: 'submitted', descending: true } as const;

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'answered';
  } catch (error) {
    return error instanceof RefusalError ? error.refusal.code : String(error);
  }
}

describe('the reader', () => {
  it('answers as the queries themselves do, many at once', async () => {
    reader = openReader({ workerFile: programs.file('reader-worker'), path: folder.database, log: silent });
    const here = openReads({ path: folder.database, nowMs: () => startMs, log: silent });
    const [page, detail, none, children, events, inbox] = await Promise.all([
      reader.jobList({ search: 'ann' }, newest, 0, 2),
      reader.jobDetail('/ann/two'),
      reader.attemptByUid('0000000000000000'),
      reader.children('/ann/one', 0, 10),
      reader.audit('/ann/one', null, 10),
      reader.inbox(null, 10),
    ]);
    expect(page).toEqual(here.jobList({ search: 'ann' }, newest, 0, 2));
    expect(page.total).toBe(3);
    expect(detail).toEqual(here.jobDetail('/ann/two'));
    expect(none).toBeNull();
    expect(children).toEqual({ total: 0, rows: [] });
    expect(events).toEqual(here.audit('/ann/one', null, 10));
    expect(inbox).toEqual(here.inbox(null, 10));
    here.close();
  });

  it('refuses what was asked after it was closed', async () => {
    reader = openReader({ workerFile: programs.file('reader-worker'), path: folder.database, log: silent });
    await reader.counts();
    await reader.close();
    expect(await codeOf(reader.counts())).toBe('UNAVAILABLE');
  });

  it('refuses when there is no database, and does not try forever', async () => {
    const log = recordingLog();
    reader = openReader({
      workerFile: programs.file('reader-worker'),
      path: join(folder.path, 'none.db'),
      log,
    });
    expect(await codeOf(reader.counts())).toBe('UNAVAILABLE');
    expect(log.lines.length).toBeLessThanOrEqual(3);
  });

  it('replaces a thread that dies, and asks again what waited with it', async () => {
    const log = recordingLog();
    reader = openReader({ workerFile: dyingOnce('dies', 'process.exit(1)'), path: folder.database, log });
    expect(await Promise.all([reader.resolveJob('a', 'ann'), reader.resolveJob('b', 'ann')])).toEqual([
      'a',
      'b',
    ]);
    expect(log.lines.map((line) => line.message)).toEqual(['the reader thread ended and is replaced']);
  });

  it('gives up on a query that hangs, and answers the others from a new thread', async () => {
    reader = openReader({
      workerFile: dyingOnce('hangs', 'for (;;);'),
      path: folder.database,
      log: silent,
      timeoutMs: 1500,
    });
    const stuck = codeOf(reader.resolveJob('a', 'ann'));
    expect(await stuck).toBe('UNAVAILABLE');
    expect(await reader.resolveJob('b', 'ann')).toBe('b');
  });

  it('answers in the thread that asks until its own is due, which then takes over', async () => {
    let overHere: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (overHere = resolve));
    const here = openReads({ path: folder.database, nowMs: () => startMs, log: silent });
    let answeredHere = 0;
    reader = openReader({
      workerFile: programs.file('reader-worker'),
      path: folder.database,
      log: silent,
      later: {
        afterMs: 1,
        reads: () => ({
          ...here,
          jobList: (...args) => {
            answeredHere += 1;
            return here.jobList(...args);
          },
          close: () => {
            here.close();
            overHere();
          },
        }),
      },
    });
    const early = await reader.jobList({ search: 'ann' }, newest, 0, 2);
    expect(answeredHere).toBe(1);
    await closed;
    expect(await reader.jobList({ search: 'ann' }, newest, 0, 2)).toEqual(early);
    expect(early.total).toBe(3);
    expect(answeredHere).toBe(1);
  });

  it('closed before its thread is due, closes what it opened meanwhile and answers nothing more', async () => {
    let closed = 0;
    const here = openReads({ path: folder.database, nowMs: () => startMs, log: silent });
    reader = openReader({
      workerFile: join(folder.path, 'no-such-worker.js'),
      path: folder.database,
      log: silent,
      later: {
        afterMs: 600_000,
        reads: () => ({
          ...here,
          counts: () => {
            throw new Error('no such table: jobs');
          },
          close: () => {
            here.close();
            closed += 1;
          },
        }),
      },
    });
    expect((await reader.jobList({ search: 'ann' }, newest, 0, 2)).total).toBe(3);
    expect(await codeOf(reader.counts())).toBe('INTERNAL');
    await reader.close();
    expect(closed).toBe(1);
    expect(await codeOf(reader.resolveJob('a', 'ann'))).toBe('UNAVAILABLE');
  });
});

/** A thread that does `harm` at the first question ever, and as its successor answers each with its first argument. */
function dyingOnce(name: string, harm: string): string {
  const file = join(folder.path, `${name}.mjs`);
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';
     import { closeSync, openSync } from 'node:fs';
     parentPort.on('message', (request) => {
       if (request.kind === 'close') return parentPort.close();
       let first = true;
       try { closeSync(openSync(${JSON.stringify(`${file}.done`)}, 'wx')); } catch { first = false; }
       if (first) { ${harm} }
       parentPort.postMessage({ kind: 'answer', id: request.id, value: request.args[0] });
     });`,
  );
  return file;
}
