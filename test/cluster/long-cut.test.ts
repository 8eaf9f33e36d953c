/** A machine cut off for two minutes, and one for ten seconds, with a whole controller and the thresholds it has by itself. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AttemptView, TaskView } from '../../core/contract/views.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { attemptsOf, running, shell, stop, submit } from '../harness/host-jobs.js';
import { describeLab, labMachines, type LabMachines } from '../harness/lab.js';
import { labController, type LabController } from '../harness/lab-host.js';
import { eventually } from '../harness/process-backend.js';

const cutMs = 120_000;
const shortCutMs = 10_000;
const testMs = 280_000;

let machines: LabMachines;
let controller: LabController;

/** Processes there that sleep as the job does. */
const sleepers = (of: LabHost) => of.sh('ps ax -o args | grep -c "^[s]leep 6543" || true').trim();

/** The attempt once the job's first task has so many. */
async function attempt(jobId: string, count: number, state: AttemptView['state'], ms: number) {
  const deadline = performance.now() + ms;
  for (;;) {
    const found = (await attemptsOf(controller.client, jobId))[count - 1];
    if (found?.state === state) return found;
    if (performance.now() > deadline)
      throw new Error(`attempt ${count} of ${jobId} is ${found?.state ?? 'none'}`);
    await pause(100);
  }
}

describeLab('a long cut', () => {
  beforeAll(async () => {
    machines = await labMachines();
    controller = await labController(machines);
  });
  afterAll(async () => {
    await controller.dispose();
    await machines.dispose();
  });

  test(
    'of two minutes: its task runs elsewhere, its stale copy ends when it is back; of ten seconds: nothing of that',
    async () => {
      const { client, add, machine, machineWhen } = controller;
      const [lost, spare] = [await machines.lab.host('ws-lost'), await machines.lab.host('ws-spare')];
      await add(lost);
      const jobId = await submit(client, shell('exec sleep 6543', { cpu: 0.1 }));
      await running(client, jobId);
      await add(spare);
      const brief = await submit(
        client,
        shell('exec sleep 6543', {
          cpu: 0.1,
          constraints: [{ key: 'machine', op: 'EQ', values: ['ws-spare'] }],
        }),
      );
      await running(client, brief);
      const tasks: TaskView[] = [];
      const take = (value: { readonly tasks: readonly TaskView[] }) => void tasks.push(...value.tasks);
      const end = client.subscribe('job', { jobId }, { snapshot: take, delta: take, ended: () => undefined });

      lost.cut();
      spare.cut();
      const cutAt = performance.now();
      await pause(shortCutMs);
      spare.mend();
      const second = await attempt(jobId, 2, 'RUNNING', 110_000);
      const lostAfterMs = performance.now() - cutAt;
      expect(second.workerId).toBe('ws-spare');
      // 50 s from the last word of it, which came within 5 s before the cut.
      expect(lostAfterMs).toBeGreaterThan(44_000);
      expect((await attemptsOf(client, jobId))[0]).toMatchObject({
        workerId: 'ws-lost',
        state: 'WORKER_FAILED',
        cause: { code: 'WORKER_LOST' },
      });
      expect(sleepers(lost)).toBe('1');
      expect((await machine('ws-lost'))?.state).toBe('DEAD');
      await pause(Math.max(0, cutMs - (performance.now() - cutAt)));
      lost.mend();
      await client.call('machine.connect', { machineId: 'ws-lost' });
      await eventually(() => sleepers(lost) === '0', 'the stale copy is stopped');
      await machineWhen('ws-lost', ({ state }) => state === 'HEALTHY');
      const attempts = await attemptsOf(client, jobId);
      expect(attempts.map(({ state }) => state)).toEqual(['WORKER_FAILED', 'RUNNING']);
      // No moment at which more than one was told to live.
      const live = tasks.map((task) => task.attempts.filter(({ state }) => state === 'RUNNING').length);
      expect(Math.max(...live)).toBe(1);
      // The other one was adopted, or not even missed.
      expect((await attemptsOf(client, brief)).map(({ state }) => state)).toEqual(['RUNNING']);
      expect(sleepers(spare)).toBe('2');
      end();
      await stop(client, jobId, brief);
      expect([sleepers(lost), sleepers(spare)]).toEqual(['0', '0']);
    },
    testMs,
  );
});
