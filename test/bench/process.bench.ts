/** How many jobs a second, and how soon a job's first instruction runs, beside bare spawns and other queues. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { JobRequest } from '../../core/contract/job-request.js';
import {
  bareSpawnRate,
  finished,
  gnuParallelRate,
  parallelism,
  taskSpoolerRate,
  withTaskSpooler,
} from './baselines.js';
import { compare, percentile, type BenchContext } from './harness.js';
import { hasProgram, startHost, type BenchHost, type HostKind } from './hosts.js';

export const name = 'process';

const command = '/bin/true';
const jobs = 2_000;
const submissionsInFlight = 64;
const samples = 41;
/** Time for what follows the end of a job, so that the next sample meets an idle host. */
const restMs = 60;
/** Far less often than jobs end: each look costs both sides a third of a millisecond of what is measured. */
const pollMs = 40;

export async function run(context: BenchContext): Promise<void> {
  for (const kind of ['headless', 'desktop'] as const) {
    await throughput(context, kind);
    await latency(context, kind);
  }
  await others(context);
}

/** Other queues, beside the bare loop. */
async function others(context: BenchContext): Promise<void> {
  const bare = await bareSpawnRate(command, jobs);
  const beside = { name: 'bare spawn loop', value: bare };
  if (hasProgram('tsp')) {
    context.figure(
      compare({
        name: 'task-spooler, jobs a second',
        value: await taskSpoolerRate(command, jobs),
        unit: '/s',
        beside,
      }),
    );
  } else context.note('task-spooler is not installed (Debian: task-spooler)');
  if (hasProgram('parallel')) {
    context.figure(
      compare({
        name: 'GNU parallel, jobs a second',
        value: await gnuParallelRate(command, jobs),
        unit: '/s',
        beside,
      }),
    );
  } else context.note('GNU parallel is not installed (Debian: parallel)');
}

async function throughput(context: BenchContext, kind: HostKind): Promise<void> {
  const host = await startHost(context.root, kind);
  try {
    const status = await host.client.call('status', {});
    context.note(
      `${kind} host: ${status.runtime}; ${Object.entries(status.pragmas)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ')}`,
    );
    const cpu = await quarterOfTheMachine(host);
    // The machine's own speed drifts; the loop runs before and after.
    const before = await bareSpawnRate(command, jobs);
    const measured = await jobRate(host, cpu);
    const after = await bareSpawnRate(command, jobs);
    await checkAllSucceeded(host, jobs);
    context.note(
      `${kind} host: all ${jobs} acknowledged after ${measured.acknowledgedMs.toFixed(0)} ms; bare loop ${before.toFixed(0)}/s before, ${after.toFixed(0)}/s after`,
    );
    context.figure(
      compare({
        name: `jobs of ${command} a second, ${kind} host`,
        value: measured.rate,
        unit: '/s',
        beside: { name: 'bare spawn loop', value: (before + after) / 2 },
        atLeast: 0.6,
      }),
    );
  } finally {
    await host.end();
  }
}

/** Cores a job asks for so that as many as the loop's parallelism run at once. */
async function quarterOfTheMachine(host: BenchHost): Promise<number> {
  const { machines } = await host.client.call('machine.list', {});
  const total = machines[0]?.cpuMillicoresTotal ?? 0;
  if (total === 0) throw new Error('The host has no machine.');
  return Math.floor(total / parallelism) / 1000;
}

function request(argv: string[], cpu?: number): JobRequest {
  return { command: argv, workingDirectory: os.tmpdir(), ...(cpu === undefined ? {} : { cpu }) };
}

async function jobRate(host: BenchHost, cpu: number): Promise<{ rate: number; acknowledgedMs: number }> {
  const { client } = host;
  const began = performance.now();
  let left = jobs;
  await Promise.all(
    Array.from({ length: submissionsInFlight }, async () => {
      while (left > 0) {
        left -= 1;
        await client.call('job.submit', { requestId: randomUUID(), request: request([command], cpu) });
      }
    }),
  );
  const acknowledgedMs = performance.now() - began;
  // Asked for now and then: a subscriber would have the host tell of every change as well.
  while ((await client.call('status', {})).counts.finished < jobs)
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  return { rate: jobs / ((performance.now() - began) / 1000), acknowledgedMs };
}

async function checkAllSucceeded(host: BenchHost, expected: number): Promise<void> {
  const { total } = await host.client.call('job.list', {
    filter: { states: ['SUCCEEDED'] },
    sort: { key: 'submitted', descending: false },
    offset: 0,
    limit: 1,
  });
  if (total !== expected) throw new Error(`Of ${expected} jobs ${total} have SUCCEEDED.`);
}

/** Submission to first instruction on an idle machine: `sh` writes a line into a named pipe as the first thing it does. */
async function latency(context: BenchContext, kind: HostKind): Promise<void> {
  const host = await startHost(context.root, kind);
  const pipe = openPipe();
  try {
    const { client } = host;
    const argv = ['/bin/sh', '-c', `echo > ${pipe.path}`];
    const bare: number[] = [];
    const ours: number[] = [];
    const weighted: number[] = [];
    const spooler: number[] = [];
    const rest = () => new Promise((resolve) => setTimeout(resolve, restMs));
    await withSpoolerIfThere(async (env) => {
      for (let sample = 0; sample < samples + 3; sample += 1) {
        const keep = (list: number[], ms: number) => {
          // The first rounds warm up caches and code on all sides.
          if (sample >= 3) list.push(ms);
        };
        keep(bare, await pipe.time(() => finished('/bin/sh', argv.slice(1))));
        await rest();
        const submit = (cpu?: number) => () =>
          client.call('job.submit', { requestId: randomUUID(), request: request(argv, cpu) });
        keep(ours, await pipe.time(submit()));
        await rest();
        // Processors asked for: the attempt joins a control group first.
        keep(weighted, await pipe.time(submit(0.5)));
        await rest();
        if (env === null) continue;
        keep(spooler, await pipe.time(() => finished('tsp', ['-n', ...argv], env)));
        await rest();
      }
    });
    const median = (list: readonly number[]) => percentile(list, 0.5);
    const beside = { name: 'bare spawn', value: median(bare) };
    context.figure(
      compare({
        name: `submission to first instruction, median, ${kind} host`,
        value: median(ours),
        unit: 'ms',
        beside,
        atMost: 3,
      }),
    );
    context.figure(
      compare({
        name: `the same with processors asked for, ${kind} host`,
        value: median(weighted),
        unit: 'ms',
        beside,
      }),
    );
    context.note(
      `${kind} host: first instruction p90 ${percentile(ours, 0.9).toFixed(1)} ms, bare spawn p90 ${percentile(bare, 0.9).toFixed(1)} ms`,
    );
    if (spooler.length > 0) {
      context.figure(
        compare({
          name: `task-spooler to first instruction, median (beside the ${kind} host)`,
          value: median(spooler),
          unit: 'ms',
          beside,
        }),
      );
    }
  } finally {
    pipe.close();
    await host.end();
  }
}

async function withSpoolerIfThere(work: (env: NodeJS.ProcessEnv | null) => Promise<void>): Promise<void> {
  if (hasProgram('tsp')) await withTaskSpooler(work);
  else await work(null);
}

interface TimingPipe {
  readonly path: string;
  /** Milliseconds from the call of `start` until the next byte comes through the pipe. */
  time(start: () => Promise<unknown>): Promise<number>;
  close(): void;
}

function openPipe(): TimingPipe {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-pipe-'));
  const file = path.join(folder, 'pipe');
  execFileSync('/usr/bin/mkfifo', [file]);
  // Open for writing too, so that it never ends between two writers.
  const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new net.Socket({ fd, readable: true, writable: false });
  let came: () => void = () => undefined;
  socket.on('data', () => came());
  return {
    path: file,
    async time(start) {
      const arrived = new Promise<number>((resolve) => (came = () => resolve(performance.now())));
      const began = performance.now();
      const [at] = await Promise.all([arrived, start()]);
      return at - began;
    },
    close() {
      socket.destroy();
      try {
        closeSync(fd);
      } catch {
        // The socket has closed it.
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
