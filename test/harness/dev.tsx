/**
 * The window over a made-up controller, for looking at it in a browser: `node test/harness/dev-server.mjs`, then
 * /test/harness/dev.html?jobs=10000&live=500&theme=dark#/jobs. Parameters: jobs, live (changes a second), theme, lost, delay, gpus, refuse, machines
 * (lab, none, a number), images, caches (none, unknown, measuring, measured, refused, failed, left).
 */
import { refusal } from '../../core/contract/errors.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import { fakeAttemptUid, fakeCauses, fakeUser } from './fake-data.js';
import { fakeCachesIn, type FakeCachesState } from './fake-caches.js';
import { FakeHost } from './fake-host.js';
import { fakeImages, fakeLab, manyMachines } from './fake-lab.js';
import { fillFakeLab } from './fake-queue.js';

const parameters = new URLSearchParams(window.location.search);
const theme = parameters.get('theme');
const host = new FakeHost({
  jobs: Number(parameters.get('jobs') ?? 12),
  settings: { theme: theme === 'dark' || theme === 'light' ? theme : 'system' },
  machine: parameters.get('gpus') === '0' ? { gpus: [], gpuNote: 'No nvidia-smi on this machine.' } : {},
});
const machines = parameters.get('machines');
if (machines === 'lab') host.machines = fakeLab(host.nowMs);
if (machines === 'none') host.machines = [];
if (machines !== null && /^\d+$/.test(machines)) host.machines = manyMachines(host.nowMs, Number(machines));
if (machines !== null) setInterval(() => (host.nowMs = Date.now()), 500);
if (parameters.get('images') !== null) Object.assign(host.lab, fakeImages(host.nowMs));
const caches = parameters.get('caches');
if (caches !== null) fakeCachesIn(host, caches as FakeCachesState);
const lab = parameters.get('lab');
if (lab === 'few') fillFakeLab(host, { waiting: 9, running: 5, ended: 12, machines: 1 });
if (lab === 'many') fillFakeLab(host, { waiting: 2000, running: 300, ended: 1500, machines: 12 });
host.hold();
setTimeout(
  () => {
    host.release();
  },
  Number(parameters.get('delay') ?? 0),
);
if (parameters.get('refuse') === 'list') {
  host.refuseNext(
    'job.list',
    refusal('STORAGE_FAILED', 'The database could not be read: input/output error on /data.'),
    1000,
  );
}
if (parameters.get('lost') !== null) {
  setTimeout(() => {
    host.reachable = false;
    host.disconnect();
  }, 500);
}

const uid = fakeAttemptUid(`/${fakeUser}/eval-mmlu/0`, 0);
for (let step = 1; step <= 400; step += 1) {
  host.log(uid, 'out', `step ${step}  loss ${(4 / Math.sqrt(step)).toFixed(4)}  lr 3.0e-04\n`);
  if (step % 40 === 0) host.log(uid, 'err', `\u001b[33mwarning\u001b[0m: gradient norm ${step / 10}\n`);
}
host.inbox.push(
  ...[...host.jobs.values()]
    .filter((row) => row.parentId === null && isTerminalJobState(row.state))
    .slice(0, 30)
    .map((row, index) => ({
      id: 1000 - index,
      jobId: row.id,
      jobName: row.name,
      state: row.state,
      cause: row.cause,
      atMs: row.finishedAtMs ?? row.submittedAtMs,
      durationMs: row.startedAtMs === null ? null : (row.finishedAtMs ?? 0) - row.startedAtMs,
      read: index > 2,
    })),
);

const changesPerSecond = Number(parameters.get('live') ?? 0);
if (changesPerSecond > 0) {
  const ids = [...host.jobs.keys()];
  let turn = 0;
  setInterval(() => {
    for (let count = 0; count < changesPerSecond / 10; count += 1) {
      const id = ids[(turn += 7) % ids.length];
      const row = id === undefined ? undefined : host.jobs.get(id);
      if (row === undefined) continue;
      const runs = row.state !== 'RUNNING';
      host.change(row.id, {
        state: runs ? 'RUNNING' : 'FAILED',
        finishedAtMs: runs ? null : Date.now(),
        taskCounts: { [runs ? 'RUNNING' : 'FAILED']: row.numTasks },
        cause: runs ? null : fakeCauses.exit,
      });
    }
    host.publish();
  }, 100);
}

Object.defineProperty(window, 'irisDesktop', { value: Object.freeze(host.bridge) });
Object.defineProperty(window, 'fakeHost', { value: host });
await import('../../renderer/main.js');
