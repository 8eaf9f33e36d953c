/** The part of a log that was written since a time, from a real task's own files and marks. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { lastAttempt, over, running, shell, submit } from '../harness/host-jobs.js';
import { sharedHost } from '../harness/shared-host.js';

const host = sharedHost();

async function since(attemptUid: string, sinceMs: number): Promise<string> {
  const { chunks } = await host.client.call('log.merged', {
    attemptUid,
    cursor: null,
    sinceMs,
    maxBytes: 1_000_000,
  });
  return chunks
    .map(({ stream, dataBase64 }) => `${stream}: ${Buffer.from(dataBase64, 'base64').toString()}`)
    .join('');
}

test('what was written before a time is left out, nothing written since is', async () => {
  const gate = path.join(host.root, 'gate');
  const script = `echo early; echo early >&2; until test -e '${gate}'; do sleep 0.05; done; echo late; echo late >&2`;
  const startedMs = Date.now();
  const jobId = await submit(host.client, shell(script));
  await running(host.client, jobId);
  const { uid } = await lastAttempt(host.client, jobId);
  // Until the controller has marked where the log stands.
  await eventually(() => since(uid, Date.now())).toBe('');
  const betweenMs = Date.now();
  writeFileSync(gate, '');
  expect((await over(host.client, jobId)).state).toBe('SUCCEEDED');
  expect(await since(uid, betweenMs)).toBe('out: late\nerr: late\n');
  // Asked for from the start, both parts are there, whatever marks lie between.
  const whole = await since(uid, startedMs);
  for (const part of ['early', 'late']) expect(whole.split(`${part}\n`)).toHaveLength(3);
  const ended = (await lastAttempt(host.client, jobId)).finishedAtMs ?? 0;
  expect(await since(uid, ended + 1)).toBe('');
});
