/** A host that comes back: after an orderly end, after a start of the machine, beside a foreign process with a known pid. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { attemptsOf, lastAttempt, over, running, shell, stop, submit, textOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { processesOf } from '../harness/left-processes.js';

let home: Awaited<ReturnType<typeof makeHomeRoot>>;
let host: HostProcess;

beforeEach(async () => {
  home = await makeHomeRoot();
  host = await startHostProcess(home.root);
});
afterEach(async () => {
  await host.shutdown();
  await home.remove();
});

const claimOf = (uid: string) => path.join(host.home.attempts, uid, 'claim');

/** Kills what lives of an attempt, as the end of the machine does. */
async function endProcesses(uid: string): Promise<void> {
  for (const pid of processesOf(new Set([uid]))) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      continue; // gone with its parent
    }
  }
  await eventually(() => processesOf(new Set([uid]))).toEqual([]);
}

test('jobs go on through an orderly end of the host; the next adopts them and tells each end once', async () => {
  const first = await host.connect();
  // It lives until the gate opens, however long the two hosts take.
  const gate = path.join(host.home.root, 'gate');
  const wait = `until test -e '${gate}'; do sleep 0.05; done`;
  const script = `i=0; while [ $i -lt 40 ]; do [ $i -ne 20 ] || ${wait}; echo line $i; i=$((i+1)); done; exit 6`;
  const adopted = await submit(first, shell(script));
  const away = path.join(host.home.root, 'away');
  const meanwhile = await submit(first, shell(`until test -e '${away}'; do sleep 0.05; done; exit 3`));
  await running(first, adopted);
  await running(first, meanwhile);
  const { uid } = await lastAttempt(first, adopted);
  const ending = await lastAttempt(first, meanwhile);
  await host.shutdown();
  expect(processesOf(new Set([uid])).length).toBeGreaterThan(0);
  writeFileSync(away, '');
  await eventually(() => processesOf(new Set([ending.uid]))).toEqual([]);

  host = await startHostProcess(home.root);
  const client = await host.connect();
  expect(await over(client, meanwhile)).toMatchObject({ state: 'FAILED', exitCode: 3, preemptionCount: 0 });
  expect((await client.call('job.get', { jobId: adopted })).summary.state).toBe('RUNNING');
  writeFileSync(gate, '');
  expect(await over(client, adopted)).toMatchObject({ state: 'FAILED', exitCode: 6, preemptionCount: 0 });
  expect((await attemptsOf(client, adopted)).map((attempt) => attempt.uid)).toEqual([uid]);
  expect(await textOf(client, uid)).toBe(Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join(''));
  const { items } = await client.call('inbox.list', { limit: 50 });
  expect(items.map((item) => item.jobId).sort()).toEqual([adopted, meanwhile].sort());
  const { events } = await client.call('audit.list', { limit: 500 });
  const ends = events.filter((event) => event.action === 'job_completed').map((event) => event.entity);
  expect(ends.sort()).toEqual([adopted, meanwhile].sort());
  const own = events
    .filter(({ entity, action }) => entity === 'host' || action === 'attempt_adopted')
    .reverse();
  expect(own.map(({ action, entity, detail }) => [action, entity, detail])).toMatchObject([
    ['host_started', 'host', { host: 'headless', unfinished: 0 }],
    ['host_stopped', 'host', { reason: 'the test is over' }],
    ['host_started', 'host', { host: 'headless', unfinished: 2 }],
    ['attempt_adopted', `${adopted}/0:0`, { uid }],
  ]);
  expect(own[2]?.detail).not.toHaveProperty('afterUncleanEnd');
});

test('a start of the machine: the attempt is lost as REBOOTED and tried again once', async () => {
  const first = await host.connect();
  const jobId = await submit(first, shell('echo $IRIS_TASK_ID; exec sleep 600', { grace: 1 }));
  await running(first, jobId);
  const { uid } = await lastAttempt(first, jobId);
  await host.kill();
  const claim = readFileSync(claimOf(uid), 'latin1');
  await endProcesses(uid);
  const lines = claim.split('\n');
  // No end was written, and the boot id is the one before.
  lines[0] = ''.padEnd(95);
  lines[1] = '00000000-0000-4000-8000-000000000000';
  writeFileSync(claimOf(uid), lines.join('\n'), 'latin1');

  host = await startHostProcess(home.root);
  const client = await host.connect();
  await eventually(async () => (await attemptsOf(client, jobId)).length).toBe(2);
  await running(client, jobId);
  const [lost, again] = await attemptsOf(client, jobId);
  expect(lost).toMatchObject({ uid, state: 'WORKER_FAILED', exitCode: null, cause: { code: 'REBOOTED' } });
  expect(lost?.finishedAtMs).not.toBeNull();
  expect(again).toMatchObject({ number: 1, state: 'RUNNING' });
  const { summary } = await client.call('job.get', { jobId });
  expect(summary).toMatchObject({ state: 'RUNNING', preemptionCount: 1, failureCount: 0 });
  expect(processesOf(new Set([uid]))).toEqual([]);
  expect(await textOf(client, again?.uid ?? '')).toBe(`${jobId}/0:1\n`);
  await stop(client, jobId);
  expect(await attemptsOf(client, jobId)).toHaveLength(2);
  const { events } = await client.call('audit.list', { limit: 500 });
  const own = events.filter(({ entity, action }) => entity === 'host' || action === 'attempt_adopted');
  expect(own.map(({ action, detail }) => [action, detail['unfinished'], detail['afterUncleanEnd']])).toEqual([
    ['host_started', 1, true],
    ['host_started', 0, undefined],
  ]);
});

test('a foreign process that has the pid by now is neither taken for the attempt nor touched', async () => {
  const first = await host.connect();
  const jobId = await submit(first, shell('exec sleep 600', { grace: 1, maxRetriesPreemption: 0 }));
  await running(first, jobId);
  const { uid } = await lastAttempt(first, jobId);
  await host.kill();
  const lines = readFileSync(claimOf(uid), 'latin1').split('\n');
  await endProcesses(uid);
  // This test's own pid, with another start time, in the present boot.
  const own = readFileSync('/proc/self/stat', 'latin1').trim();
  const fields = own.slice(own.lastIndexOf(')') + 2).split(' ');
  fields[19] = String(Number(fields[19]) - 1);
  lines[0] = ''.padEnd(95);
  lines[2] = `${own.slice(0, own.lastIndexOf(')') + 2)}${fields.join(' ')}`;
  writeFileSync(claimOf(uid), lines.join('\n'), 'latin1');

  host = await startHostProcess(home.root);
  const client = await host.connect();
  // Had it been taken for the attempt, the job would run on; had it been touched, this test would be gone.
  expect(await over(client, jobId)).toMatchObject({
    state: 'WORKER_FAILED',
    cause: { code: 'SUPERVISOR_LOST' },
  });
});
