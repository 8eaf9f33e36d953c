/** Containers beside Docker's own command on the same Engine: how soon they start, how many a minute, how fast their logs come. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { JobRequest } from '../../core/contract/job-request.js';
import { engineImage, engineObstacle, startEngine, type OwnEngine } from '../../scripts/lib/engine.mjs';
import { finished, parallelism } from './baselines.js';
import { compare, percentile, type BenchContext } from './harness.js';
import { startHost, type BenchHost } from './hosts.js';

export const name = 'docker';

/** Fewer, to see that it works: `IRIS_BENCH_CONTAINERS=20`. */
const containers = Number(process.env['IRIS_BENCH_CONTAINERS'] ?? 200);
const samples = Math.max(3, Math.round(containers / 10));
const noisy = 10;
const linesEach = containers * 500;
const lineBytes = 80;
/** So that all run at once on any machine. */
const noisyCpu = 0.1;
const pollMs = 20;

export async function run(context: BenchContext): Promise<void> {
  const obstacle = engineObstacle();
  if (obstacle !== null) throw new Error(`No figure of containers can be had: ${obstacle}.`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-bench-docker-'));
  const engine = await startEngine(path.join(folder, 'engine'));
  // Found by the host as by the command.
  process.env['DOCKER_HOST'] = `unix://${engine.socket}`;
  const work = mkdtempSync(path.join(os.tmpdir(), 'iris-bench-work-'));
  try {
    const host = await startHost(context.root, 'headless');
    try {
      await ready(host);
      await firstInstruction(context, host, work);
      await throughQueue(context, host, work);
      await logs(context, host, engine, work);
    } finally {
      await host.end();
    }
  } finally {
    await engine.stop();
    for (const each of [folder, work]) rmSync(each, { recursive: true, force: true });
  }
}

async function until(test: () => Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise((resolve) => setTimeout(resolve, pollMs));
}

async function ready({ client }: BenchHost): Promise<void> {
  await until(async () => {
    const { machines } = await client.call('machine.list', {});
    return machines[0]?.docker.state === 'READY';
  });
}

/** As the host asks for it, weight of processors included. */
const bareArgs = (cpu: number, more: readonly string[]): string[] => {
  const shares = String(Math.max(2, Math.round(cpu * 1024)));
  return ['run', '--network', 'host', '--init', '--cpu-shares', shares, ...more, engineImage];
};

async function submit(
  { client }: BenchHost,
  work: string,
  command: string[],
  more: Partial<JobRequest> = {},
) {
  const request: JobRequest = { command, workingDirectory: work, image: engineImage, ...more };
  return client.call('job.submit', { requestId: randomUUID(), request });
}

async function finishedJobs({ client }: BenchHost, wanted: number): Promise<void> {
  await until(async () => (await client.call('status', {})).counts.finished >= wanted);
}

/** The command's first act is a connection to us. */
async function firstInstruction(context: BenchContext, host: BenchHost, work: string): Promise<void> {
  let came: () => void = () => undefined;
  const server = net.createServer((socket) => {
    came();
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  const port = String(address !== null && typeof address === 'object' ? address.port : 0);
  const time = async (start: () => Promise<unknown>): Promise<number> => {
    const arrived = new Promise<number>((resolve) => (came = () => resolve(performance.now())));
    const began = performance.now();
    const [at] = await Promise.all([arrived, start()]);
    return at - began;
  };
  const command = ['nc', '127.0.0.1', port];
  const bare: number[] = [];
  const ours: number[] = [];
  const before = (await host.client.call('status', {})).counts.finished;
  for (let sample = 0; sample < samples + 1; sample += 1) {
    const bareMs = await time(() => finished('docker', [...bareArgs(1, ['--rm']), ...command]));
    const oursMs = await time(() => submit(host, work, command));
    await finishedJobs(host, before + sample + 1);
    // The first of each warms up caches.
    if (sample === 0) continue;
    bare.push(bareMs);
    ours.push(oursMs);
  }
  server.close();
  context.figure(
    compare({
      name: 'submission to first instruction in a container, median',
      value: percentile(ours, 0.5),
      unit: 'ms',
      beside: { name: 'docker run', value: percentile(bare, 0.5) },
      atMost: 1.15,
    }),
  );
}

async function throughQueue(context: BenchContext, host: BenchHost, work: string): Promise<void> {
  const { machines } = await host.client.call('machine.list', {});
  const cpu = Math.floor((machines[0]?.cpuMillicoresTotal ?? 0) / parallelism) / 1000;
  const bareSeconds = async (): Promise<number> => {
    const began = performance.now();
    let left = containers / 2;
    await Promise.all(
      Array.from({ length: parallelism }, async () => {
        while (left > 0) {
          left -= 1;
          await finished('docker', [...bareArgs(cpu, ['--rm']), 'true']);
        }
      }),
    );
    return (performance.now() - began) / 1000;
  };
  // The machine's own speed drifts: half of the loop before, half after.
  const first = await bareSeconds();
  const before = (await host.client.call('status', {})).counts.finished;
  const began = performance.now();
  await Promise.all(Array.from({ length: containers }, () => submit(host, work, ['true'], { cpu })));
  await finishedJobs(host, before + containers);
  const ours = (performance.now() - began) / 1000;
  const bare = first + (await bareSeconds());
  context.figure(
    compare({
      name: `${containers} containers through the queue, ${parallelism} at a time`,
      value: ours,
      unit: 's',
      beside: { name: 'loop of docker run', value: bare },
      atMost: 1.2,
    }),
  );
}

/** From the start of the containers to the last byte of their logs. */
async function logs(context: BenchContext, host: BenchHost, engine: OwnEngine, work: string): Promise<void> {
  const text = 'x'.repeat(lineBytes - 1);
  const command = ['awk', `BEGIN { for (i = 0; i < ${linesEach}; i++) print "${text}" }`];
  const megabytes = (noisy * linesEach * lineBytes) / 1e6;
  const bareRate = async (): Promise<number> => {
    const began = performance.now();
    const names = Array.from({ length: noisy }, (_, index) => `noisy-${index}`);
    const each = (name: string) =>
      finished('docker', [...bareArgs(noisyCpu, ['-d', '--name', name]), ...command]);
    await Promise.all(
      names.map(async (one) => {
        await each(one);
        await followed(one);
      }),
    );
    const rate = megabytes / ((performance.now() - began) / 1000);
    await engine.docker('rm', '-f', ...names);
    return rate;
  };
  const first = await bareRate();
  const before = (await host.client.call('status', {})).counts.finished;
  const began = performance.now();
  await Promise.all(Array.from({ length: noisy }, () => submit(host, work, command, { cpu: noisyCpu })));
  await finishedJobs(host, before + noisy);
  const ours = megabytes / ((performance.now() - began) / 1000);
  const bare = (first + (await bareRate())) / 2;
  context.figure(
    compare({
      name: `logs of ${noisy} noisy containers`,
      value: ours,
      unit: 'MB/s',
      beside: { name: 'docker logs -f', value: bare },
      atLeast: 0.8,
    }),
  );
}

function followed(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('docker', ['logs', '-f', name], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.resume();
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`docker logs ended with exit code ${code}`));
    });
  });
}
