import { afterEach, expect, it } from 'vitest';
import { parseJobRequest } from '../../core/contract/job-request.js';
import { logCutMessage } from '../../core/formats/log-cut.js';
import { runProgram } from '../../main/cli/program.js';
import { testContext } from './context.js';
import { FakeHost } from './fake-host.js';
import { attempt, summary, task } from './views.js';

let host: FakeHost | null = null;
afterEach(async () => {
  await host?.dispose();
  host = null;
});

const text = 'one\ntwo\nthree\n';
const note = 'irisctl: the disk was full here: output of attempt a1 may be missing.\n';

/** A log of some of whose bytes it is told that they may be followed by a gap. */
async function startHost(numTasks: number, cutAfter: number): Promise<FakeHost> {
  const spec = parseJobRequest({ command: ['true'], workingDirectory: '/srv' });
  if (!spec.ok) throw new Error(spec.refusal.message);
  const message = logCutMessage('/data/a1', 'while the task ran', { out: cutAfter, err: 0 });
  const warnings = [{ code: 'LOG_STORAGE_FULL' as const, message }];
  return FakeHost.start({
    'job.get': () => ({
      summary: summary({ state: 'SUCCEEDED', numTasks }),
      spec: spec.value,
      submittedBy: 'ada',
      ancestors: [],
    }),
    'task.list': () => ({
      total: 1,
      rows: [task({ attempts: [attempt({ uid: 'a1', finishedAtMs: 1, warnings })] })],
    }),
    'log.merged': ({ cursor }) => {
      const offset = cursor?.out ?? 0;
      const dataBase64 = Buffer.from(text.slice(offset)).toString('base64');
      return {
        chunks: offset < text.length ? [{ stream: 'out' as const, offset, dataBase64 }] : [],
        cursor: { out: text.length, err: 0 },
        outSize: text.length,
        errSize: 0,
        complete: true,
      };
    },
  });
}

it.each([
  ['on a line of its own within another', 1, 6, 'one\ntw\nNOTE\no\nthree\n'],
  ['above the line, where lines stay whole', 2, 6, 'one\nNOTE\ntwo\nthree\n'],
  ['between two lines', 1, 4, 'one\nNOTE\ntwo\nthree\n'],
  ['at the end', 1, 14, 'one\ntwo\nthree\nNOTE\n'],
])('job logs says on standard error where a log may be cut: %s', async (_what, numTasks, at, expected) => {
  host = await startHost(numTasks, at);
  const made = testContext(host.home);
  try {
    expect(await runProgram(made.context, ['job', 'logs', 'train-1'])).toBe(0);
  } finally {
    made.context.link.close();
  }
  expect(made.all()).toBe(expected.replace('NOTE\n', note));
  expect(made.out()).toBe(text);
});
