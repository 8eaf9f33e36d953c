import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { runProgram } from '../../main/cli/program.js';
import { readProcess } from '../../main/machine/processes.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, hostStatus, type Answers } from './fake-host.js';

let host: FakeHost;
const contexts: TestContext[] = [];

async function start(answers: Answers = {}): Promise<void> {
  host = await FakeHost.start(answers);
}

function open(more: Parameters<typeof testContext>[1] = {}): TestContext {
  const made = testContext(host.home, more);
  contexts.push(made);
  return made;
}

afterEach(async () => {
  for (const made of contexts.splice(0)) made.context.link.close();
  await host.dispose();
});

describe('the host', () => {
  const statusCodeOf = () => runProgram(open().context, ['status']);

  it('is told about, and nothing is started to do so', async () => {
    await start();
    const made = open();
    expect(await runProgram(made.context, ['status'])).toBe(0);
    expect(made.out()).toMatch(/^Database +journal_mode=wal$/m);
    await host.end();
    const none = open({ json: true });
    expect(await runProgram(none.context, ['status'])).toBe(1);
    expect(JSON.parse(none.out())).toEqual({ running: false, home: host.home.root });
    const quiet = open();
    expect(await runProgram(quiet.context, ['shutdown'])).toBe(0);
    expect(quiet.out()).toBe(`No host runs for ${host.home.root}.\n`);
  });

  it('is shut down when it has no window', async () => {
    await start();
    host.answers.shutdown = () => {
      setImmediate(() => void host.end());
      return {};
    };
    const made = open();
    expect(await runProgram(made.context, ['shutdown'])).toBe(0);
    expect(made.out()).toContain('(process 5000000) has ended');
  });

  it('has ended only when its process has, which lets go of the folder last', async () => {
    await start();
    const ending = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const gone = new Promise<void>((resolve) => ending.once('exit', () => resolve()));
    const { pid = 0 } = ending;
    host.answers.hello = () => hostStatus(host.home, { pid });
    host.answers.shutdown = () => {
      setImmediate(() => void host.end());
      return {};
    };
    const made = open();
    let code: number | null = null;
    const asked = runProgram(made.context, ['shutdown']).then((value) => (code = value));
    // Its connections are gone by then.
    await eventually(statusCodeOf).toBe(1);
    await eventually(() => readProcess(pid)?.state).toBe('S');
    expect([code, made.out()]).toEqual([null, '']);
    ending.stdin.end();
    await gone;
    expect(await asked).toBe(0);
    expect(made.out()).toContain(`(process ${pid}) has ended`);
  });

  it('is not shut down under a window', async () => {
    await start();
    host.answers.hello = () => hostStatus(host.home, { host: 'desktop' });
    await expect(runProgram(open().context, ['shutdown'])).rejects.toThrow('end it with Quit');
    expect(host.calls.some((call) => call.method === 'shutdown')).toBe(false);
  });

  it.each(['{"a":1}\n', 'no JSON\n', 'null\n'])(
    'a file that holds %j is no record of rounds',
    async (text) => {
      await start();
      const file = path.join(host.home.root, 'file.gz');
      writeFileSync(file, gzipSync(text));
      await expect(runProgram(open().context, ['debug', 'replay', file])).rejects.toMatchObject({
        refusal: {
          code: 'INVALID_ARGUMENT',
          message: expect.stringContaining(`${file} is no record of rounds that can be read: `),
        },
      });
    },
  );

  it('no host is started for another cluster', async () => {
    await start();
    const made = open({ cluster: 'marin' });
    await expect(runProgram(made.context, ['serve'])).rejects.toMatchObject({
      refusal: { code: 'NOT_FOUND', fields: [{ field: '--cluster', value: 'marin', expected: 'local' }] },
    });
  });
});
