/** What an ended task leaves on its cards: all that carries a mark of it is ended, what shook off every mark is named, not touched. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGpuReader } from '../../main/machine/gpus.js';
import { readProcess } from '../../main/machine/processes.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { eventually, livingOf, processBackends, type ProcessBackends } from '../harness/process-backend.js';

/** Four cards; process 4001 computes on the first, 4002 on the second. */
const capture = path.resolve(
  import.meta.dirname,
  '../fixtures/nvidia-smi/k80-x4-minor-number-not-list-order.xml',
);
const [first, second, third] = [1, 2, 3].map((n) => `GPU-a000000${n}-0000-4000-8000-00000000000${n}`);

let backends: ProcessBackends;
let scratch: string;

beforeEach(async () => {
  backends = await processBackends();
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-scratch-'));
});
afterEach(async () => {
  await backends.dispose();
  for (const name of ['first', 'second']) {
    const pid = pidIn(name);
    if (pid !== null && readProcess(pid) !== null) process.kill(pid, 'SIGKILL');
  }
  rmSync(scratch, { recursive: true, force: true });
});

const fileOf = (name: string) => path.join(scratch, name);

function pidIn(name: string): number | null {
  const text = existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8') : '';
  return text.endsWith('\n') ? Number(text) : null;
}

/** The tool of a machine on which the processes noted in the files `first` and `second` are those of the capture. */
function tool(before = '') {
  const put = (name: string, pid: number) =>
    `if test -s ${fileOf(name)}; then p=$(cat ${fileOf(name)}); else p=1; fi; set -- "$@" -e "s/<pid>${pid}</<pid>$p</"`;
  const script = `${before} set --; ${put('first', 4001)}; ${put('second', 4002)}; exec sed "$@" ${capture}`;
  return createGpuReader({ nowMs: () => Date.now(), command: 'sh', args: ['-c', script], timeoutMs: 5000 });
}

/** Leaves its session, its parent and its environment behind, as a daemon does; notes its pid. */
const escaped = (name: string) =>
  `(env -i PATH="$PATH" setsid sh -c 'echo $$ >${fileOf(name)}.new; mv ${fileOf(name)}.new ${fileOf(name)}; exec sleep 300' </dev/null >/dev/null 2>&1 &); until test -e ${fileOf(name)}; do sleep 0.02; done`;

async function open(reader = tool()): Promise<BackendProbe> {
  return backends.open({ gpuReader: reader });
}

const onCards = (script: string, ...devices: (string | undefined)[]) =>
  launchOf({ command: ['sh', '-c', script] }, { devices: devices.filter((each) => each !== undefined) });

test('a process without any mark of the task is named with its card, and lives on', async () => {
  const probe = await open();
  const launch = onCards(`${escaped('first')}; exit 0`, first, third);
  probe.run(launch);
  const end = await probe.over(launch.uid);
  const pid = pidIn('first') ?? 0;
  expect(end).toMatchObject({ state: 'SUCCEEDED', cause: null });
  expect(end.warnings).toEqual([
    {
      code: 'GPU_STILL_USED',
      message: `After its end these processes still compute on its GPUs: ${pid} (/opt/jobs/job-1, on ${first}, 576 MiB). They carry no mark of the task, so they were left alone.`,
    },
  ]);
  expect(backends.warnings).toContain(end.warnings[0]?.message);
  expect(readProcess(pid)?.name).toBe('sleep');
});

test('of a stopped task as well; what carries its mark is ended, and is no leftover', async () => {
  const probe = await open();
  const marked = `(trap "" TERM; setsid sh -c 'trap "" TERM; echo $$ >${fileOf('second')}; while :; do sleep 0.1; done' &)`;
  const launch = onCards(
    `${escaped('first')}; ${marked}; until test -s ${fileOf('second')}; do sleep 0.02; done; sleep 300`,
    first,
    second,
  );
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  await eventually(() => pidIn('first') !== null && pidIn('second') !== null, 'both are at work');
  probe.stop(launch.uid, { graceMs: 200 });
  const end = await probe.over(launch.uid);
  expect(end).toMatchObject({ state: 'KILLED', warnings: [{ code: 'GPU_STILL_USED' }] });
  expect(end.warnings[0]?.message).toContain(`GPUs: ${pidIn('first')} (/opt/jobs/job-1`);
  expect(end.warnings[0]?.message).not.toContain('job-2');
  expect(readProcess(pidIn('second') ?? 0)).toBeNull();
  expect(livingOf(backends.folder)).toEqual([]);
});

test('other cards, and processes that were there before, are none of its business', async () => {
  const probe = await open();
  const early = onCards(`${escaped('second')}; exit 0`);
  probe.run(early);
  expect((await probe.over(early.uid)).warnings).toEqual([]);
  expect(readProcess(pidIn('second') ?? 0)?.name).toBe('sleep');
  // Seen on its card before the next begins.
  probe.backend.watchWorkers(true);
  // What is told at once was read before; the next is read now.
  const stale = probe.lastWorkers;
  await probe.until(() => probe.lastWorkers !== stale);
  expect(probe.lastWorkers[0]?.gpus[1]?.busyByOthers).toBe(true);
  const launch = onCards(`${escaped('first')}; exit 0`, second, third);
  probe.run(launch);
  expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED', warnings: [] });
});

test('a tool that does not answer holds no end back for longer than its time limit', async () => {
  const hang = fileOf('hang');
  const probe = await open(tool(`if test -e ${hang}; then exec sleep 300; fi;`));
  const launch = onCards(`${escaped('first')}; : >${hang}; exit 4`, first);
  const begin = performance.now();
  probe.run(launch);
  expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 4, warnings: [] });
  expect(performance.now() - begin).toBeGreaterThan(5000);
});
