/** The host killed at random moments under load: every acknowledged job reaches its true end exactly once. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import type { JobSummary } from '../../core/contract/views.js';
import type { TestClient } from '../harness/client.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { processesOf } from '../harness/left-processes.js';

const kills = 200;
const jobs = 500;

interface Planned {
  readonly requestId: string;
  readonly name: string;
  readonly exitCode: number;
  readonly lines: number;
  acknowledgedAs: string | null;
}

let home: Awaited<ReturnType<typeof makeHomeRoot>>;
let host: HostProcess | null = null;

beforeEach(async () => {
  home = await makeHomeRoot();
});

afterEach(async () => {
  await host?.shutdown();
  host = null;
  await home.remove();
});

/** A small generator, so that a failure can be run again from its seed (Lehmer's, with Park and Miller's numbers). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

test(`${kills} kills at random moments under ${jobs} jobs`, { timeout: 600_000 }, async () => {
  const seed = Number(process.env['IRIS_TEST_SEED'] ?? randomInt(1, 2_147_483_646));
  console.log(`seed ${seed} (IRIS_TEST_SEED repeats it)`);
  const random = randomFrom(seed);
  const ledger = path.join(home.root, 'ledger');
  await writeFile(ledger, '');
  const plan = Array.from({ length: jobs }, (_, index): Planned => ({
    requestId: `request-${index}`,
    name: `job-${index}`,
    exitCode: random(3) === 0 ? 1 + random(100) : 0,
    lines: 1 + random(200),
    acknowledgedAs: null,
  }));

  /** Sends what is not acknowledged yet, a few at a time, until told to stop. */
  async function submitSome(client: TestClient, count: number): Promise<void> {
    const open = plan.filter((job) => job.acknowledgedAs === null).slice(0, count);
    await Promise.all(
      open.map(async (job) => {
        const seconds = (random(300) / 1000).toFixed(3);
        const script = `echo begin $IRIS_TASK_ID >>"$1"; i=0; while [ $i -lt ${job.lines} ]; do echo line $i of $IRIS_TASK_ID; i=$((i+1)); done; sleep ${seconds}; echo end $IRIS_TASK_ID >>"$1"; exit ${job.exitCode}`;
        try {
          const answer = await client.call('job.submit', {
            requestId: job.requestId,
            request: {
              name: job.name,
              command: ['sh', '-c', script, 'sh', ledger],
              workingDirectory: '/',
              cpu: 0.25,
            },
          });
          job.acknowledgedAs = answer.jobId;
        } catch (error) {
          // The host died before it answered: the same request is sent again to the next.
          if (!(error instanceof RefusalError) || error.refusal.code !== 'DISCONNECTED') throw error;
        }
      }),
    );
  }

  for (let round = 0; round < kills; round += 1) {
    host = await startHostProcess(home.root);
    const client = await host.connect();
    const submitting = submitSome(client, 1 + random(6));
    const running = host;
    await new Promise<void>((resolve, reject) => {
      setTimeout(() => void running.kill().then(resolve, reject), random(250));
    });
    await submitting;
  }

  host = await startHostProcess(home.root);
  const client = await host.connect();
  while (plan.some((job) => job.acknowledgedAs === null)) await submitSome(client, 100);
  await client.until('jobs', {}, (value) => {
    const { counts } = value as { counts: { running: number; waiting: number } };
    return counts.running === 0 && counts.waiting === 0;
  });

  const rows: JobSummary[] = [];
  for (let offset = 0; offset < jobs; offset += 500) {
    const page = await client.call('job.list', {
      filter: { rootsOnly: false },
      sort: { key: 'submitted', descending: false },
      offset,
      limit: 500,
    });
    expect(page.total).toBe(jobs);
    rows.push(...page.rows);
  }
  const byId = new Map(rows.map((row) => [row.id, row]));
  const wrong = plan
    .map((job) => ({ job, row: byId.get(job.acknowledgedAs ?? '') }))
    .filter(
      ({ job, row }) =>
        row?.state !== (job.exitCode === 0 ? 'SUCCEEDED' : 'FAILED') ||
        row.exitCode !== job.exitCode ||
        row.preemptionCount !== 0,
    )
    .map(({ job, row }) => ({ wanted: job, got: row?.state, exitCode: row?.exitCode, cause: row?.cause }));
  expect(wrong).toEqual([]);

  // Started and ended exactly once each.
  const entries = readFileSync(ledger, 'utf8').trim().split('\n').sort();
  const expected = plan
    .flatMap((job) => [`begin ${job.acknowledgedAs}/0`, `end ${job.acknowledgedAs}/0`])
    .sort();
  expect(entries).toEqual(expected);

  const uids = new Set<string>();
  for (const job of plan) {
    const { rows: tasks } = await client.call('task.list', {
      jobId: job.acknowledgedAs ?? '',
      offset: 0,
      limit: 10,
    });
    const attempt = tasks[0]?.attempts[0];
    expect(tasks[0]?.attempts).toHaveLength(1);
    uids.add(attempt?.uid ?? '');
    const log = await client.call('log.read', {
      attemptUid: attempt?.uid ?? '',
      stream: 'out',
      offset: 0,
      maxBytes: 1_000_000,
    });
    const wanted = Array.from(
      { length: job.lines },
      (_, line) => `line ${line} of ${job.acknowledgedAs}/0\n`,
    ).join('');
    expect(Buffer.from(log.dataBase64, 'base64').toString()).toBe(wanted);
  }
  expect(processesOf(uids)).toEqual([]);

  client.close();
  const { database } = host.home;
  await host.shutdown();
  host = null;
  const opened = new Database(database, { readonly: true });
  expect(opened.pragma('integrity_check', { simple: true })).toBe('ok');
  opened.close();
});
