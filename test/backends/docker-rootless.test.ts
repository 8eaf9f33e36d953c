/** A rootless Engine, found and used by its user, who is known by number alone. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineImage } from '../../scripts/lib/engine.mjs';
import { noRootless, startRootless, withRootless, type Rootless } from '../harness/rootless.js';

interface Shown {
  readonly summary: {
    readonly id: string;
    readonly state: string;
    readonly cause: { readonly code: string } | null;
  };
}

describe.skipIf(noRootless)(withRootless('a rootless Engine'), () => {
  let own: Rootless;
  beforeAll(async () => {
    own = await startRootless();
  });
  afterAll(async () => {
    await own.irisctl('shutdown');
    await own.stop();
  });

  const inContainer = (script: string, ...flags: string[]) =>
    own.irisctl('job', 'run', '--task-image', engineImage, ...flags, '--', 'sh', '-c', script);
  const show = async (job: string): Promise<Shown> =>
    JSON.parse((await own.irisctl('job', 'show', job, '--json')).out) as Shown;

  test("is found in the user's own runtime folder, and what it cannot do is said", async () => {
    const { code, out } = await own.irisctl('docker', 'check');
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`rootless Docker .* is ready at ${own.socket} \\(looked for in XDG_RUNTIME_DIR\\)`),
    );
    expect(out.includes('This Engine runs without control groups')).toBe(own.groupless);
    expect(out.includes('not held to the processors and number of processes')).toBe(own.groupless);
  });

  test("runs a job as its user: what the command writes into its folder is the user's own", async () => {
    const done = await inContainer(
      'id -u; echo kept >"$IRIS_WORKDIR/made"; echo said >&2; exit 3',
      '--job-name',
      'files',
    );
    expect(done).toMatchObject({ code: 3, out: '0\n' });
    expect(done.err).toContain('said\n');
    const [made] = readdirSync(own.home, { recursive: true, encoding: 'utf8' }).filter(
      (file) => path.basename(file) === 'made',
    );
    expect(made).toBeDefined();
    const file = path.join(own.home, made ?? '');
    expect(statSync(file).uid).toBe(own.userId);
    expect(readFileSync(file, 'utf8')).toBe('kept\n');
    expect((await show('files')).summary.id).toBe(`/uid-${own.userId}/files`);
  });

  test('a job above its memory limit is ended for that, and told so', async () => {
    const hungry = 'x=a; while [ ${#x} -lt 134217728 ]; do x=$x$x; done; sleep 60; echo $x | wc -c';
    const done = await inContainer(hungry, '--memory', '64MB', '--job-name', 'hungry');
    expect(done.err).toMatch(/memory limit of 61 MiB and was ended/);
    expect((await show('hungry')).summary).toMatchObject({
      state: 'FAILED',
      cause: { code: 'MEMORY_LIMIT' },
    });
  });

  test("what a job uses is its own, not the whole machine's", async () => {
    const busy = 'i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done; sleep 3';
    expect((await inContainer(busy, '--job-name', 'busy')).code).toBe(0);
    const told = JSON.stringify(await show('busy'));
    const seconds = Number(/"cpuSeconds":([\d.]+)/.exec(told)?.[1]);
    const peak = Number(/"peakMemoryBytes":(\d+)/.exec(told)?.[1]);
    expect(seconds).toBeGreaterThan(0.3);
    expect(seconds).toBeLessThan(60);
    expect(peak).toBeGreaterThan(200_000);
    expect(peak).toBeLessThan(200_000_000);
  });

  test('a job is stopped with its container', async () => {
    const job = (
      await inContainer('trap "exit 0" TERM; while :; do sleep 1; done', '--no-wait', '--job-name', 'long')
    ).out.trim();
    expect(job).toBe(`/uid-${own.userId}/long`);
    expect((await own.irisctl('job', 'stop', job)).code).toBe(0);
    await own.irisctl('job', 'wait', job);
    expect((await show('long')).summary.state).toBe('KILLED');
  });
});
