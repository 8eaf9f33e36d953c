/** A task that prints 200 MB while somebody follows its log: nothing grows with it, nothing of it is lost. */
import { createHash, randomUUID } from 'node:crypto';
import os from 'node:os';
import { limit, type BenchContext } from './harness.js';
import { residentBytes, startHost, type BenchHost } from './hosts.js';

export const name = 'big-log';

const bytes = 200_000_000;
/** Printed after that: nothing grows any more. */
const furtherBytes = 800_000_000;
const line = '0123456789 the quick brown fox jumps over the lazy dog 0123456789\n';
const sampleMs = 100;
const mebibyte = 1024 * 1024;

export async function run(context: BenchContext): Promise<void> {
  for (const kind of ['headless', 'desktop'] as const) {
    const host = await startHost(context.root, kind);
    try {
      // A quarter of it first: what it takes to read any log is not growth, what grows with its length is.
      await follow(host, bytes / 4);
      const memory = sampleMemory(host);
      const began = performance.now();
      const read = await follow(host, bytes);
      const growth = memory.end();
      context.note(
        `${kind} host: ${(bytes / 1e6 / ((performance.now() - began) / 1000)).toFixed(0)} MB/s printed and followed`,
      );
      context.figure(
        limit({
          name: `bytes of a 200 MB log missing, ${kind} host`,
          value: bytes - read.bytes,
          unit: 'bytes',
          atLeast: 0,
          atMost: 0,
        }),
      );
      context.figure(
        limit({
          name: `its digest differs, ${kind} host`,
          value: read.digest === expectedDigest(bytes) ? 0 : 1,
          unit: 'logs',
          atMost: 0,
        }),
      );
      showGrowth(context, growth, `${kind} host`, 32);
      const further = sampleMemory(host);
      const { bytes: furtherRead } = await follow(host, furtherBytes);
      showGrowth(context, further.end(), `${kind} host, in the next 800 MB`, 16);
      context.figure(
        limit({
          name: `bytes of the next 800 MB missing, ${kind} host`,
          value: furtherBytes - furtherRead,
          unit: 'bytes',
          atLeast: 0,
          atMost: 0,
        }),
      );
    } finally {
      await host.end();
    }
  }
}

function showGrowth(
  context: BenchContext,
  growth: ReadonlyMap<string, number>,
  where: string,
  mostMebibytes: number,
): void {
  for (const [process, grown] of growth) {
    context.figure(
      limit({
        name: `memory growth of ${process}, ${where}`,
        value: grown / mebibyte,
        unit: 'MiB',
        atMost: mostMebibytes,
      }),
    );
  }
}

/** Runs the task and reads its log as it grows. */
async function follow(host: BenchHost, wanted: number): Promise<{ bytes: number; digest: string }> {
  const { client } = host;
  const { jobId } = await client.call('job.submit', {
    requestId: randomUUID(),
    request: {
      command: ['/bin/sh', '-c', `yes '${line.trimEnd()}' | head -c ${wanted}`],
      workingDirectory: os.tmpdir(),
    },
  });
  let uid: string | undefined;
  await client.until('job', { jobId }, (value) => {
    uid = (value as { tasks: { attempts: { uid: string }[] }[] }).tasks[0]?.attempts[0]?.uid;
    return uid !== undefined;
  });
  if (uid === undefined) throw new Error('The job has no attempt.');
  const digest = createHash('sha256');
  let read = 0;
  let cursor: { out: number; err: number } | null = null;
  for (;;) {
    const answer: Awaited<ReturnType<typeof client.call<'log.merged'>>> = await client.call('log.merged', {
      attemptUid: uid,
      cursor,
      maxBytes: mebibyte,
    });
    for (const chunk of answer.chunks) {
      const data = Buffer.from(chunk.dataBase64, 'base64');
      read += data.length;
      digest.update(data);
    }
    cursor = answer.cursor;
    if (answer.complete) return { bytes: read, digest: digest.digest('hex') };
    if (answer.chunks.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function expectedDigest(wanted: number): string {
  const digest = createHash('sha256');
  const block = Buffer.from(line.repeat(1000));
  let left = wanted;
  for (; left > block.length; left -= block.length) digest.update(block);
  return digest.update(block.subarray(0, left)).digest('hex');
}

/** Highest memory of each process of the host above what it had at the start. */
function sampleMemory(host: BenchHost): { end(): ReadonlyMap<string, number> } {
  const processes = host.processes();
  const start = new Map(processes.map(({ pid }) => [pid, residentBytes(pid) ?? 0]));
  const peak = new Map(start);
  const timer = setInterval(() => {
    for (const { pid } of processes) peak.set(pid, Math.max(peak.get(pid) ?? 0, residentBytes(pid) ?? 0));
  }, sampleMs);
  return {
    end() {
      clearInterval(timer);
      return new Map(
        processes.map(({ pid, name: process }, index) => [
          `${index === 0 ? 'the host' : process} (${index})`,
          (peak.get(pid) ?? 0) - (start.get(pid) ?? 0),
        ]),
      );
    },
  };
}
