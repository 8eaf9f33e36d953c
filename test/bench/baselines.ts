/** What the controller is measured beside, in the same run on the same machine. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const parallelism = 4;

/** Commands a second of a loop that starts the next as one ends. */
export async function bareSpawnRate(command: string, count: number): Promise<number> {
  const started = performance.now();
  let left = count;
  await Promise.all(
    Array.from({ length: parallelism }, async () => {
      while (left > 0) {
        left -= 1;
        await finished(command, []);
      }
    }),
  );
  return rate(count, started);
}

/** Debian's task-spooler: every command queued, then waited for. Nothing of it is durable. */
export async function taskSpoolerRate(command: string, count: number): Promise<number> {
  return await withTaskSpooler(async (env) => {
    const started = performance.now();
    const queueAll = `i=0; while [ $i -lt ${count} ]; do tsp -n ${command} >/dev/null; i=$((i+1)); done`;
    await finished('/bin/sh', ['-c', queueAll], env);
    // The list has a line for each command that is queued or running.
    await finished(
      '/bin/sh',
      ['-c', "while tsp | grep -qE '^[0-9]+ +(queued|running)'; do sleep 0.005; done"],
      env,
    );
    return rate(count, started);
  });
}

export async function withTaskSpooler<T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-tsp-'));
  const env = { ...process.env, TS_SOCKET: path.join(folder, 'socket'), TS_MAXFINISHED: '5', TMPDIR: folder };
  try {
    await finished('tsp', ['-S', String(parallelism)], env);
    return await work(env);
  } finally {
    await finished('tsp', ['-K'], env);
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function gnuParallelRate(command: string, count: number): Promise<number> {
  const started = performance.now();
  await finished('/bin/sh', ['-c', `seq ${count} | parallel -j${parallelism} -N0 --will-cite ${command}`]);
  return rate(count, started);
}

export function finished(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'ignore', ...(env === undefined ? {} : { env }) });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${code ?? signal}`));
    });
  });
}

function rate(count: number, startedAt: number): number {
  return count / ((performance.now() - startedAt) / 1000);
}
