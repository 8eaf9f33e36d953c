/** The Engine is killed while a whole host has containers that write, that are being made, and that wait in the queue, and is started again. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AttemptView } from '../../core/contract/views.js';
import type { TestClient } from '../harness/client.js';
import { engineImage, noEngine, ownEngine, withEngine, type OwnEngine } from '../harness/engine.js';
import { over, shell, submit, tasksOf, textOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';

const longMs = 120_000;
const writers = 3;
const short = 24;
const shortLines = 200;
const recordSchema = z.object({ log: z.string(), stream: z.string() });
const configSchema = z.object({ Name: z.string() });

interface Written {
  readonly out: string;
  readonly err: string;
}

describe.skipIf(noEngine)(withEngine('an Engine killed under load'), () => {
  let work: string;
  let engine: OwnEngine;
  let home: Awaited<ReturnType<typeof makeHomeRoot>>;
  let host: HostProcess;
  let client: TestClient;

  const begin = async (more: readonly string[]) => {
    engine = await ownEngine(more);
    host = await startHostProcess(home.root, {
      env: { ...process.env, DOCKER_HOST: `unix://${engine.socket}`, IRIS_DESKTOP_CLAIMS: 'none' },
    });
    client = await host.connect();
  };
  beforeEach(async () => {
    work = mkdtempSync(path.join(os.tmpdir(), 'iris-work-'));
    home = await makeHomeRoot();
  });
  afterEach(async () => {
    await host.shutdown();
    await home.remove();
    await engine.stop();
    rmSync(work, { recursive: true, force: true });
  });

  const lines = (file: string) =>
    existsSync(path.join(work, file))
      ? readFileSync(path.join(work, file), 'utf8').split('\n').length - 1
      : 0;
  /** Notes each beginning; whoever then still lives of an earlier one of the same job says so. */
  const counting = (name: string, goesOn: string) =>
    `echo $IRIS_ATTEMPT_UID >>begun-${name}; echo $IRIS_ATTEMPT_UID >last-${name}; i=0; ` +
    `while ${goesOn}; do read last <last-${name}; [ "$last" = $IRIS_ATTEMPT_UID ] || echo ${name} >>doubled; ` +
    `echo "out $i"; echo "err $i" >&2; i=$((i+1)); usleep 500; done; echo last`;
  const writing = (name: string) => counting(name, '! test -e go');
  const brief = (name: string) => counting(name, `[ $i -lt ${shortLines} ]`);

  /** The Engine's own logs of all containers there are now, kept when these are removed: by the attempt. */
  const keepLogs = (): (() => ReadonlyMap<string, Written>) => {
    const folder = path.join(engine.folder, 'data', 'containers');
    const kept = path.join(engine.folder, 'data', 'kept');
    mkdirSync(kept);
    for (const id of readdirSync(folder)) {
      try {
        const text = readFileSync(path.join(folder, id, 'config.v2.json'), 'utf8');
        const uid = /^\/iris-([0-9a-f]{16})$/.exec(configSchema.parse(JSON.parse(text)).Name)?.[1];
        if (uid !== undefined) linkSync(path.join(folder, id, `${id}-json.log`), path.join(kept, uid));
      } catch {
        continue; // only being made, or being removed
      }
    }
    return () =>
      new Map(
        readdirSync(kept).map((uid) => {
          const text = { out: '', err: '' };
          for (const row of readFileSync(path.join(kept, uid), 'utf8').split('\n').filter(Boolean)) {
            const record = recordSchema.parse(JSON.parse(row));
            text[record.stream === 'stderr' ? 'err' : 'out'] += record.log;
          }
          return [uid, text];
        }),
      );
  };

  const attemptsOf = async (job: string): Promise<readonly AttemptView[]> =>
    (await tasksOf(client, job)).flatMap((task) => task.attempts);
  const written = async (uid: string): Promise<Written> => ({
    out: await textOf(client, uid, 'out'),
    err: await textOf(client, uid, 'err'),
  });
  const upTo = (count: number, stream: string) =>
    Array.from({ length: count }, (_, index) => `${stream} ${index}\n`).join('');

  test.each([
    ['and its containers with it', []],
    ['and its containers go on', ['--live-restore']],
  ])(
    '%s: each job ends well once, with its whole log, and what is of others stays',
    async (_, more) => {
      await begin(more);
      const theirs = ['run', '-d', '--label', 'iris.managed=another', engineImage, 'sleep', '600'];
      const ofOthers = [
        (await engine.docker(...theirs)).trim(),
        (await engine.docker('create', '--name', 'iris-theirs', engineImage, 'true')).trim(),
      ].sort();
      const machine = (await client.call('machine.list', {})).machines[0];
      const base = { image: engineImage, workingDirectory: work, maxRetries: 0 };
      // No more of the short ones at once than the rest of the machine takes.
      const cpu = (machine?.cpuMillicoresTotal ?? 0) / 8000;
      const jobs = new Map<string, string>();
      for (let index = 0; index < writers; index += 1)
        jobs.set(await submit(client, shell(writing(`w${index}`), { ...base, cpu })), `w${index}`);
      await expect
        .poll(() => Array.from({ length: writers }, (__, at) => lines(`begun-w${at}`)), { timeout: longMs })
        .toEqual([1, 1, 1]);
      for (let index = 0; index < short; index += 1)
        jobs.set(await submit(client, shell(brief(`s${index}`), { ...base, cpu })), `s${index}`);
      const states = async () => {
        const all = await Promise.all([...jobs.keys()].map(attemptsOf));
        const last = all.map((attempts) => attempts.at(-1)?.state ?? 'PENDING');
        const count = (state: string) => last.filter((each) => each === state).length;
        return {
          ended: count('SUCCEEDED'),
          making: count('BUILDING'),
          running: count('RUNNING'),
          waiting: count('PENDING'),
        };
      };
      // In the midst of it: some are over, some write, some are being made, many wait.
      await expect
        .poll(
          async () => {
            const { ended, making, running, waiting } = await states();
            return ended > 1 && making > 0 && running > writers && waiting > 5;
          },
          { timeout: longMs, interval: 5 },
        )
        .toBe(true);
      const theirLogs = keepLogs();
      await engine.kill();
      await engine.start();
      const failing = async () =>
        (await Promise.all([...jobs.keys()].map(attemptsOf)))
          .flat()
          .filter(({ state }) => state === 'FAILED');
      expect(await failing()).toEqual([]);
      for (const [job, name] of jobs) if (name.startsWith('s')) await over(client, job);
      writeFileSync(path.join(work, 'go'), '');
      for (const job of jobs.keys()) await over(client, job);

      const logs = theirLogs();
      for (const [job, name] of jobs) {
        const [task, ...others] = await tasksOf(client, job);
        expect(others).toEqual([]);
        expect(task).toMatchObject({ state: 'SUCCEEDED', failureCount: 0 });
        const attempts = task?.attempts ?? [];
        const good = attempts.filter(({ state }) => state === 'SUCCEEDED');
        expect(good).toEqual([attempts.at(-1)]);
        for (const attempt of attempts) {
          const ours = await written(attempt.uid);
          const kept = logs.get(attempt.uid);
          const isCut = attempt.warnings.some(({ code }) => code === 'LOG_ENGINE_RESTARTED');
          if (kept !== undefined) expect(ours).toEqual(kept);
          for (const stream of ['out', 'err'] as const) {
            const text = ours[stream].replace(/last\n$/, '');
            const numbers = text.split('\n').filter(Boolean);
            // What was not whole when it ended is a beginning, without a gap, unless the Engine lost it and that is said.
            if (!isCut) expect(text).toBe(upTo(numbers.length, stream));
            else expect(new Set(numbers).size).toBe(numbers.length);
          }
          if (attempt.state !== 'SUCCEEDED') {
            expect(attempt.state).toBe('WORKER_FAILED');
            continue;
          }
          if (!isCut) expect(ours.out.endsWith('last\n')).toBe(true);
          if (!isCut && name.startsWith('s'))
            expect(ours).toEqual({ out: `${upTo(shortLines, 'out')}last\n`, err: upTo(shortLines, 'err') });
        }
        // Each attempt began at most once.
        const begun = readFileSync(path.join(work, `begun-${name}`), 'utf8')
          .split('\n')
          .filter(Boolean);
        expect(new Set(begun).size).toBe(begun.length);
        expect(attempts.map(({ uid }) => uid)).toEqual(expect.arrayContaining(begun));
      }
      expect(existsSync(path.join(work, 'doubled'))).toBe(false);
      const left = async () =>
        (await engine.docker('ps', '-aq', '--no-trunc')).split('\n').filter(Boolean).sort();
      await expect.poll(left, { timeout: longMs }).toEqual(ofOthers);
    },
    300_000,
  );
});
