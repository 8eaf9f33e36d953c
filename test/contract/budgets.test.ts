/** Budgets on a real host: who may, what is told, what a submission is refused, and that it lasts. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Params } from '../../core/contract/api.js';
import { noQuota, type BudgetView } from '../../core/contract/budgets.js';
import { eventually } from '../harness/eventually.js';
import { over, refusalOf, running, shell, submit } from '../harness/host-jobs.js';
import { sharedHost } from '../harness/shared-host.js';

const shared = sharedHost();
const irisctlFile = path.resolve(import.meta.dirname, '../../out/main/cli.js');

const irisctl = (...words: string[]) => irisctlIn({}, ...words);

function irisctlIn(
  environment: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [irisctlFile, '--home', shared.root, ...words],
      { cwd: '/', env: { ...process.env, ...environment } },
      (_error, out, err) => {
        resolve({ code: child.exitCode ?? -1, out, err });
      },
    );
  });
}

const set = (user: string, change: Params<'budget.set'>['change']) =>
  shared.client.call('budget.set', { requestId: randomUUID(), user, change });
const get = (user: string) => shared.client.call('budget.get', { user });

afterEach(async () => {
  const everything = {
    limit: 'default',
    maxBand: 'INTERACTIVE',
    disallow: ['SYSTEM', 'PRODUCTION'],
    quota: noQuota,
  } as const;
  await set(shared.user, { ...everything, disallow: [...everything.disallow] });
});

describe('the folder’s owner', () => {
  test('administers budgets, and holds no upper band until it is granted', async () => {
    const refused = await irisctl('job', 'run', '--cpu', '0.1', '--priority', 'production', '--', 'true');
    expect(refused.code).toBe(125);
    expect(refused.err).toContain(`${shared.user} may not submit to PRODUCTION`);
    expect(refused.err).toContain(`irisctl budget set ${shared.user} --allow production`);
    expect((await irisctl('budget', 'set', shared.user, '--allow', 'production')).code).toBe(0);
    const granted = await irisctl('job', 'run', '--cpu', '0.1', '--priority', 'production', '--', 'true');
    expect(granted.code).toBe(0);
    const system = await irisctl('job', 'run', '--cpu', '0.1', '--priority', 'system', '--', 'true');
    expect(system.code).toBe(125);
  });

  test('bounds what a user has active at once, and what waits says so', async () => {
    expect((await irisctl('budget', 'set', shared.user, '--quota', 'tasks=1')).code).toBe(0);
    expect((await get(shared.user)).quota).toEqual({ ...noQuota, tasks: 1 });
    const first = await submit(shared.client, shell('sleep 300'));
    await running(shared.client, first);
    const second = await submit(shared.client, shell('true'));
    await eventually(
      async () => (await shared.client.call('job.explain', { jobId: second })).explanation?.reasons,
    ).toContainEqual(
      expect.objectContaining({ kind: 'quota', parts: [{ resource: 'tasks', used: 1, asked: 1, quota: 1 }] }),
    );
    expect((await irisctl('budget', 'set', shared.user, '--quota', 'none')).code).toBe(0);
    await over(shared.client, second);
    await shared.client.call('job.stop', { requestId: randomUUID(), jobIds: [first] });
    const refused = await irisctl('budget', 'set', shared.user, '--quota', 'tapes=2');
    expect(refused.code).toBe(125);
    expect(refused.err).toContain('tapes=2');
  });

  test('sees a user it set in the list, with what was set', async () => {
    expect(
      (await irisctl('budget', 'set', 'lab-user', '--limit', '1000', '--max-band', 'interactive')).code,
    ).toBe(0);
    const listed = await irisctl('budget', 'list', '--json');
    const rows = JSON.parse(listed.out) as BudgetView[];
    expect(rows.find((row) => row.user === 'lab-user')).toMatchObject({
      isSet: true,
      limit: 1000,
      limitIsDefault: false,
      maxBand: 'INTERACTIVE',
      allow: [],
      spend: { total: 0 },
    });
    expect(rows.map((row) => row.user)).toContain(shared.user);
    const { me, mayManage } = await shared.client.call('budget.list', {});
    expect([me, mayManage]).toEqual([shared.user, true]);
  });

  test('finds each change in the record: who, what before, what after', async () => {
    const user = `u${randomUUID()}`;
    await set(user, { limit: 5 });
    await set(user, { limit: 'unlimited', allow: ['SYSTEM'] });
    const { events } = await shared.client.call('audit.list', { entity: `/${user}`, limit: 10 });
    const first = { limit: 5, maxBand: 'INTERACTIVE', allow: [], quota: noQuota };
    expect(events.map(({ actor, action, detail }) => ({ actor, action, detail }))).toEqual([
      {
        actor: shared.user,
        action: 'budget_set',
        detail: {
          before: first,
          after: { limit: 'unlimited', maxBand: 'INTERACTIVE', allow: ['SYSTEM'], quota: noQuota },
        },
      },
      { actor: shared.user, action: 'budget_set', detail: { before: null, after: first } },
    ]);
  });

  test('may repeat a command: it counts once', async () => {
    const user = `u${randomUUID()}`;
    const command = {
      requestId: randomUUID(),
      user,
      change: { limit: 5, allow: ['SYSTEM' as const], disallow: [] },
    };
    await shared.client.call('budget.set', command);
    await set(user, { limit: 6 });
    expect((await shared.client.call('budget.set', command)).limit).toBe(6);
  });
});

describe('a submission', () => {
  test('is told by the check what it would be refused, beside its field', async () => {
    const request = shell('true', { priority: 'production' });
    const before = await shared.client.call('job.check', { request });
    expect(before.verdict).toBe('INVALID');
    expect(before.fields).toMatchObject([{ field: 'priority', value: 'production' }]);
    expect(before.message).toBe((await refusalOf(submit(shared.client, request))).message);
    await set(shared.user, { allow: ['PRODUCTION'], quota: noQuota });
    expect((await shared.client.call('job.check', { request })).fields).toEqual([]);
  });

  test('of a child or of a run again is no way around', async () => {
    await set(shared.user, { allow: ['PRODUCTION'] });
    const parent = await submit(shared.client, shell('exec sleep 600', { priority: 'production', grace: 1 }));
    const ended = await submit(shared.client, shell('true', { priority: 'production' }));
    await running(shared.client, parent);
    await over(shared.client, ended);
    await set(shared.user, { disallow: ['PRODUCTION'] });
    for (const priority of ['inherit', 'production']) {
      const refused = await refusalOf(submit(shared.client, shell('true', { parent, priority })));
      expect(refused.code).toBe('PERMISSION_DENIED');
    }
    const retried = await shared.client.call('job.retry', { requestId: randomUUID(), jobIds: [ended] });
    expect(retried.results[0]?.refusal?.code).toBe('PERMISSION_DENIED');
  });
});

test('a job that is demoted says so with its numbers, while it runs and while it waits', async () => {
  const holds = await submit(shared.client, shell('exec sleep 600', { cpu: 1, grace: 1 }));
  await running(shared.client, holds);
  const { total } = (await get(shared.user)).spend;
  await set(shared.user, { limit: total - 1 });
  const runs = await submit(shared.client, shell('exec sleep 600', { cpu: 0.1, grace: 1 }));
  await running(shared.client, runs);
  const { summary } = await shared.client.call('job.get', { jobId: runs });
  expect(summary.demoted).toMatchObject({
    requested: 'INTERACTIVE',
    effective: 'BATCH',
    user: shared.user,
    spend: total,
    limit: total - 1,
  });
  const line = `because ${shared.user} had ${total} of ${total - 1} in use when it was placed.`;
  expect((await irisctl('job', 'show', runs)).out).toContain(
    `Demoted to BATCH, asked for INTERACTIVE, ${line}`,
  );
  expect((await irisctl('job', 'explain', runs)).out).toContain(line);
  // Its numbers stay those of its placement.
  await set(shared.user, { limit: 'default' });
  expect((await shared.client.call('job.get', { jobId: runs })).summary.demoted).toEqual(summary.demoted);
  expect((await shared.client.call('job.get', { jobId: holds })).summary.demoted).toBeUndefined();

  await set(shared.user, { limit: 1 });
  const waits = await submit(shared.client, shell('true', { startNotBefore: '1h' }));
  const waiting = await shared.client.call('job.get', { jobId: waits });
  expect(waiting.summary.demoted).toMatchObject({ effective: 'BATCH', limit: 1 });
  expect((await irisctl('job', 'explain', waits)).out).toMatch(
    new RegExp(`Demoted to BATCH, asked for INTERACTIVE, because ${shared.user} has \\d+ of 1 in use\\.`),
  );
  await set(shared.user, { limit: 'default' });
  for (const jobId of [holds, runs, waits]) {
    await shared.stopOf(jobId);
    await over(shared.client, jobId);
  }
});

test('times in sentences are those of the reader’s clock', async () => {
  const jobId = await submit(shared.client, shell('true', { startNotBefore: '2099-12-01T20:00Z' }));
  const readIn = async (zone: string, ...words: string[]) => (await irisctlIn({ TZ: zone }, ...words)).out;
  expect(await readIn('Asia/Kolkata', 'job', 'explain', jobId)).toContain(
    'Starts no earlier than 2099-12-02 01:30:00 +05:30.',
  );
  expect(await readIn('UTC', 'job', 'show', jobId)).toContain(
    'Starts no earlier than 2099-12-01 20:00:00 UTC.',
  );
  expect(await readIn('Asia/Kolkata', 'job', 'show', jobId)).toMatch(/Submitted +\S+T\S+\+05:30 by /);
  await shared.client.call('job.stop', { requestId: randomUUID(), jobIds: [jobId] });
});

describe('what is used', () => {
  test('is seen live, by part, while it is used', async () => {
    const watching = shared.client.until('budgets', {}, (value) => {
      const { budgets } = value as { budgets: BudgetView[] };
      return budgets.find((row) => row.user === shared.user)?.spend.processors === 5;
    });
    const jobId = await submit(shared.client, shell('exec sleep 600', { cpu: 1, grace: 1 }));
    await watching;
    expect((await get(shared.user)).spend).toMatchObject({ gpus: 0, processors: 5 });
    await shared.stopOf(jobId);
    await over(shared.client, jobId);
    await eventually(async () => (await get(shared.user)).spend.total).toBe(0);
  });
});

test('what was set outlives the host', async () => {
  await set('survivor', { limit: 77, maxBand: 'BATCH', allow: ['SYSTEM'] });
  await shared.killAndStart();
  expect(await get('survivor')).toMatchObject({
    isSet: true,
    limit: 77,
    maxBand: 'BATCH',
    allow: ['SYSTEM'],
  });
  expect(await get('nobody')).toMatchObject({ isSet: false, limitIsDefault: true, maxBand: 'INTERACTIVE' });
});
