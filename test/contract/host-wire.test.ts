/** What a real host's socket gives and bears: topics, wrong frames, versions, its end. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { contractVersion, type TopicDelta, type TopicSnapshot } from '../../core/contract/api.js';
import { maxFrameBytes } from '../../core/contract/protocol.js';
import { connectClient } from '../harness/client.js';
import { eventually } from '../harness/eventually.js';
import { lastAttempt, over, refusalOf, running, shell, submit, textOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess } from '../harness/host-process.js';
import { sharedHost } from '../harness/shared-host.js';

const shared = sharedHost();

/** Sends bytes as they are; resolves with what came back when the host has closed the connection. */
async function sendRaw(socketPath: string, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = net.createConnection(socketPath);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  // The host may close while the rest is still on its way.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  await once(socket, 'close');
  return answer;
}

const hello = `${JSON.stringify({ kind: 'call', id: 1, method: 'hello', params: { contractVersion, client: 'raw' } })}\n`;

interface Seen<T> {
  readonly snapshots: T[];
  readonly deltas: T[];
}

describe('topics give a snapshot, then what changes', () => {
  test('jobs, job, inbox, overview over the life of a job', async () => {
    const { client } = shared;
    await client.call('inbox.read', {});
    const before = (await client.call('status', {})).counts;
    const jobs: Seen<unknown> = { snapshots: [], deltas: [] };
    const inbox: Seen<unknown> = { snapshots: [], deltas: [] };
    const overview: Seen<TopicSnapshot<'overview'>> = { snapshots: [], deltas: [] };
    const seeing = <T>(seen: Seen<T>) => ({
      snapshot: (value: T) => void seen.snapshots.push(value),
      delta: (value: T) => void seen.deltas.push(value),
      ended: () => undefined,
    });
    const rows: TopicDelta<'jobs'>['rows'] = [];
    const ends = [
      client.subscribe(
        'jobs',
        {},
        {
          ...seeing<unknown>(jobs),
          delta: (value) => {
            jobs.deltas.push(value);
            rows.push(...value.rows);
          },
        },
      ),
      client.subscribe('inbox', {}, seeing<unknown>(inbox)),
      client.subscribe('overview', {}, seeing(overview)),
    ];
    await eventually(() => [jobs, inbox, overview].map((seen) => seen.snapshots.length)).toEqual([1, 1, 1]);
    expect(jobs.snapshots).toEqual([{ counts: before }]);
    expect(inbox.snapshots).toEqual([{ unread: 0 }]);

    const gate = path.join(shared.root, 'watched-gate');
    const jobId = await submit(
      client,
      shell(`until test -e ${gate}; do sleep 0.05; done; exit 4`, { name: 'watched' }),
    );
    const states: string[] = [];
    const tasks: string[] = [];
    ends.push(
      client.subscribe(
        'job',
        { jobId },
        {
          snapshot: (value) => states.push(value.summary.state),
          delta: (value) => {
            states.push(value.summary.state);
            for (const task of value.tasks) tasks.push(task.state);
          },
          ended: () => undefined,
        },
      ),
    );
    await eventually(() => states.at(-1)).toBe('RUNNING');
    await eventually(() => rows.some((row) => row.id === jobId && row.state === 'RUNNING')).toBe(true);
    await eventually(() =>
      overview.deltas.some((value) => value.running.some((row) => row.id === jobId)),
    ).toBe(true);
    writeFileSync(gate, '');
    await over(client, jobId);
    await eventually(() => rows.filter((row) => row.id === jobId).at(-1)?.state).toBe('FAILED');
    await eventually(() => [states.at(-1), tasks.at(-1)]).toEqual(['FAILED', 'FAILED']);
    await eventually(() => jobs.deltas.at(-1)).toMatchObject({
      counts: { ...before, finished: before.finished + 1, failedUnseen: before.failedUnseen + 1 },
    });
    await eventually(() => inbox.deltas.at(-1)).toMatchObject({
      unread: 1,
      items: [{ jobId, jobName: 'watched', state: 'FAILED', read: false }],
    });
    await eventually(() => overview.deltas.at(-1)?.recent[0]?.id).toBe(jobId);
    expect(overview.snapshots[0]?.machines).toHaveLength(1);
    for (const end of ends) end();
    const count = jobs.deltas.length;
    await over(client, await submit(client, shell('exit 0')));
    expect(jobs.deltas).toHaveLength(count);
  });

  test('a log grows and is complete once after its end, with its true sizes', async () => {
    const { client } = shared;
    const gate = path.join(shared.root, 'log-gate');
    const wait = `until test -e ${gate}; do sleep 0.05; done`;
    const jobId = await submit(client, shell(`echo first; ${wait}; echo second; echo third >&2`));
    await running(client, jobId);
    const { uid } = await lastAttempt(client, jobId);
    const seen: TopicDelta<'log'>[] = [];
    const take = (value: TopicDelta<'log'>) => void seen.push(value);
    const end = client.subscribe(
      'log',
      { attemptUid: uid },
      { snapshot: take, delta: take, ended: () => undefined },
    );
    await eventually(() => seen.at(-1)).toEqual({ outSize: 6, errSize: 0, complete: false });
    writeFileSync(gate, '');
    await eventually(() => seen.at(-1)?.complete).toBe(true);
    end();
    expect(seen.at(-1)).toEqual({ outSize: 13, errSize: 6, complete: true });
    expect(seen[0]?.complete).toBe(false);
    const sizes = seen.map((value) => value.outSize);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(await textOf(client, uid)).toBe('first\nsecond\n');
    // One who comes later is told at once.
    let late: TopicSnapshot<'log'> | null = null;
    await client.until('log', { attemptUid: uid }, (value) => {
      late = value as TopicSnapshot<'log'>;
      return true;
    });
    expect(late).toEqual({ outSize: 13, errSize: 6, complete: true });
  });

  test('status tells who the host is and that it is well', async () => {
    const { client, host } = shared;
    let status: TopicSnapshot<'status'> | null = null;
    await client.until('status', {}, (value) => {
      status = value as TopicSnapshot<'status'>;
      return true;
    });
    expect(status).toMatchObject({
      contractVersion,
      host: 'headless',
      pid: host.process.pid,
      home: shared.root,
      healthy: true,
      health: 'All is well.',
      pragmas: { journal_mode: 'wal', foreign_keys: 1 },
    });
  });
});

describe('wrong frames end their own connection only', () => {
  test('a frame over the limit', async () => {
    const { client, host } = shared;
    const answer = await sendRaw(host.home.socket, hello, Buffer.alloc(maxFrameBytes + 1024, 'x'));
    expect(answer).toContain('RESOURCE_EXHAUSTED');
    expect(answer).toContain(`A frame is longer than ${maxFrameBytes} bytes.`);
    expect((await client.call('status', {})).healthy).toBe(true);
  });

  test('garbage before and after the greeting', async () => {
    const { client, host } = shared;
    for (const parts of [['no frame at all\n'], [hello, '\u0000\u0001{{{\n'], [hello, '[1,2,3]\n'], ['\n']]) {
      const lines = (await sendRaw(host.home.socket, ...parts)).trim().split('\n');
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
        kind: 'refused',
        refusal: { code: 'INVALID_ARGUMENT' },
      });
    }
    expect((await client.call('status', {})).healthy).toBe(true);
  });

  test('another version of the contract, and a call before hello', async () => {
    const { host } = shared;
    const wrong = { kind: 'call', id: 7, method: 'hello', params: { contractVersion: 99, client: 'old' } };
    expect(JSON.parse(await sendRaw(host.home.socket, `${JSON.stringify(wrong)}\n`))).toMatchObject({
      kind: 'refused',
      id: 7,
      refusal: { code: 'VERSION_MISMATCH', message: expect.stringContaining('version 99') as unknown },
    });
    const early = { kind: 'call', id: 3, method: 'status', params: {} };
    expect(JSON.parse(await sendRaw(host.home.socket, `${JSON.stringify(early)}\n`))).toMatchObject({
      id: 3,
      refusal: { code: 'FAILED_PRECONDITION' },
    });
  });

  test('an unknown method is refused by name and the connection goes on', async () => {
    const socket = net.createConnection(shared.host.home.socket);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, 'connect');
    socket.write(hello);
    socket.write(`${JSON.stringify({ kind: 'call', id: 2, method: 'job.explode', params: {} })}\n`);
    socket.write(`${JSON.stringify({ kind: 'subscribe', id: 3, topic: 'weather', filter: {} })}\n`);
    socket.write(`${JSON.stringify({ kind: 'call', id: 4, method: 'status', params: {} })}\n`);
    await eventually(() => answer.includes('"id":4')).toBe(true);
    const frames = answer
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { id: number; kind: string; refusal?: { code: string; message: string } },
      );
    const of = (id: number) => frames.find((frame) => frame.id === id);
    expect(of(2)?.refusal?.code).toBe('UNIMPLEMENTED');
    expect(of(2)?.refusal?.message).toContain('job.explode');
    expect(of(3)?.refusal?.code).toBe('UNIMPLEMENTED');
    expect(of(4)?.kind).toBe('result');
    socket.destroy();
  });
});

describe('the end of a host', () => {
  test('a subscription is told, a call that was on its way is DISCONNECTED, a later one finds nobody', async () => {
    const home = await makeHomeRoot();
    try {
      const host = await startHostProcess(home.root);
      const client = await host.connect();
      const told = new Promise<string>((resolve) => {
        client.subscribe(
          'jobs',
          {},
          {
            snapshot: () => undefined,
            delta: () => undefined,
            ended: (reason) => resolve(reason.code),
          },
        );
      });
      await client.call('status', {});
      // Frozen, so that the call is surely on its way when the host dies.
      host.process.kill('SIGSTOP');
      const call = refusalOf(client.call('job.submit', { requestId: randomUUID(), request: shell('true') }));
      await host.kill();
      expect((await call).code).toBe('DISCONNECTED');
      expect(await told).toBe('DISCONNECTED');
      expect((await client.closed).code).toBe('DISCONNECTED');
      expect(await refusalOf(connectClient(host.home.socket))).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining(host.home.socket) as unknown,
      });
    } finally {
      await home.remove();
    }
  });

  test('an orderly end tells its subscribers why', async () => {
    const home = await makeHomeRoot();
    try {
      const host = await startHostProcess(home.root);
      const client = await host.connect();
      const told = new Promise<string>((resolve) => {
        client.subscribe(
          'status',
          {},
          {
            snapshot: () => void client.call('shutdown', { reason: 'for the test' }).catch(() => undefined),
            delta: () => undefined,
            ended: (reason) => resolve(`${reason.code} ${reason.message}`),
          },
        );
      });
      expect(await told).toBe('UNAVAILABLE The controller is stopping: for the test.');
      if (host.process.exitCode === null) await once(host.process, 'exit');
      expect(host.process.exitCode).toBe(0);
    } finally {
      await home.remove();
    }
  });
});
