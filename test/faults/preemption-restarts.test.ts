/** The host is killed at moments of a preemption: what follows is what would have followed, each step once. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { AttemptView } from '../../core/contract/views.js';
import { eventually } from '../harness/eventually.js';
import {
  attemptsOf,
  lastAttempt,
  over,
  running,
  shell,
  submit,
  summaryWhen,
  verifiedGone,
} from '../harness/host-jobs.js';
import { sharedHost } from '../harness/shared-host.js';

const shared = sharedHost();

beforeAll(async () => {
  await shared.client.call('budget.set', {
    requestId: randomUUID(),
    user: shared.user,
    change: { allow: ['PRODUCTION'], limit: 'unlimited' },
  });
});

function overlap(left: AttemptView, right: AttemptView): boolean {
  const end = (attempt: AttemptView) => attempt.finishedAtMs ?? Number.POSITIVE_INFINITY;
  return (left.startedAtMs ?? 0) < end(right) && (right.startedAtMs ?? 0) < end(left);
}

// From before the round that decides it, over the notice and the grace, to after the place was taken.
test.each([0, 3, 15, 60, 200, 500, 900])(
  'killed %i ms after the submission',
  { timeout: 60_000 },
  async (ms) => {
    const cpu = (await shared.machine()).cpuMillicoresTotal / 1000;
    const script = 'trap "sleep 0.4; exit 0" TERM; echo began; while :; do sleep 0.05; done';
    const victim = await submit(shared.client, shell(script, { cpu, priority: 'batch', grace: '5s' }));
    await running(shared.client, victim);
    const { uid } = await lastAttempt(shared.client, victim);
    const read = { attemptUid: uid, stream: 'out', offset: 0, maxBytes: 10 } as const;
    await eventually(async () => (await shared.client.call('log.read', read)).size > 0).toBe(true);

    const hot = await submit(shared.client, shell('sleep 0.2', { cpu, priority: 'production' }));
    await new Promise((resolve) => setTimeout(resolve, ms));
    await shared.killAndStart();

    expect((await over(shared.client, hot)).state).toBe('SUCCEEDED');
    await verifiedGone(shared.client, hot);
    const again = await summaryWhen(
      shared.client,
      victim,
      (line) => line.preemptionCount > 0 && (line.taskCounts.RUNNING ?? 0) > 0,
    );
    expect(again.preemptionCount).toBe(1);
    const attempts = await attemptsOf(shared.client, victim);
    expect(attempts.map(({ state }) => state)).toEqual(['PREEMPTED', 'RUNNING']);
    const [ran, ...more] = await attemptsOf(shared.client, hot);
    expect(more).toEqual([]);
    if (ran === undefined) throw new Error('the job that takes the place has no attempt');
    // Never both on the same cores.
    expect(attempts.map((attempt) => overlap(attempt, ran))).toEqual([false, false]);
    await shared.stopOf(victim);
    await verifiedGone(shared.client, victim);
  },
);
