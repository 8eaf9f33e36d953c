/** Somebody removes the attempts' folder, or a part of it, while tasks run. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { eventually } from '../harness/eventually.js';
import { livingOf, processBackends, type ProcessBackends } from '../harness/process-backend.js';

let backends: ProcessBackends;
let probe: BackendProbe;
beforeEach(async () => {
  backends = await processBackends();
  probe = await backends.open();
});
afterEach(() => backends.dispose());

const gate = () => path.join(path.dirname(backends.folder), `${path.basename(backends.folder)}-gate`);
const waiting = (code: number) =>
  launchOf({
    command: [
      'sh',
      '-c',
      `echo begun; until test -e ${gate()}; do sleep 0.05; done; echo more; exit ${code}`,
    ],
  });

test.each([0, 5])(
  'a task that goes on ends with its own exit code (%i), and says what is lost',
  async (code) => {
    const launch = waiting(code);
    const other = waiting(0);
    probe.want({ kind: 'run', launch }, { kind: 'run', launch: other });
    for (const { uid } of [launch, other]) await probe.state(uid, 'RUNNING');
    rmSync(path.join(backends.folder, launch.uid), { recursive: true });
    writeFileSync(gate(), '');
    try {
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({
        state: code === 0 ? 'SUCCEEDED' : 'FAILED',
        exitCode: code,
        warnings: [{ code: 'FOLDER_LOST' }],
      });
      expect(end.warnings[0]?.message).toContain(path.join(backends.folder, launch.uid));
      expect((await probe.backend.readLog(launch.uid, 'out', 0, 100)).size).toBe(0);
      expect(await probe.over(other.uid)).toMatchObject({ state: 'SUCCEEDED', warnings: [] });
      expect(await probe.text(other.uid)).toBe('begun\nmore\n');
      expect(livingOf(backends.folder)).toEqual([]);
    } finally {
      rmSync(gate(), { force: true });
    }
  },
);

test('the time limit of one whose folder is gone is kept by its supervisor alone', async () => {
  const launch = launchOf({
    command: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'],
    timeout: 0.8,
    grace: 0.2,
  });
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  await probe.backend.close();
  rmSync(path.join(backends.folder, launch.uid), { recursive: true });
  expect(livingOf(backends.folder)).not.toEqual([]);
  await eventually(() => livingOf(backends.folder)).toEqual([]);
});

test('one whose folder is gone can be stopped', async () => {
  const launch = launchOf({ command: ['sleep', '300'] });
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  rmSync(path.join(backends.folder, launch.uid), { recursive: true });
  probe.stop(launch.uid);
  expect(await probe.over(launch.uid)).toMatchObject({ state: 'KILLED', cause: { code: 'STOPPED_BY_USER' } });
  expect(livingOf(backends.folder)).toEqual([]);
});

test('one whose folder is gone when the host comes back is ended and lost, for the cause it has', async () => {
  const launch = waiting(0);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  await probe.backend.close();
  rmSync(path.join(backends.folder, launch.uid), { recursive: true });
  expect(livingOf(backends.folder).length).toBeGreaterThan(0);
  const next = await backends.open();
  next.want({ kind: 'keep', uid: launch.uid, launch });
  const end = await next.over(launch.uid);
  expect(end).toMatchObject({ state: 'WORKER_FAILED', exitCode: null, cause: { code: 'FOLDER_LOST' } });
  expect(end.cause?.message).toContain(path.join(backends.folder, launch.uid));
  // Its task may run again only now that nothing of it lives.
  expect(livingOf(backends.folder)).toEqual([]);
});
