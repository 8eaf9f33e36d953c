import { describe, expect, it } from 'vitest';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { ClientFrame } from '../../core/contract/protocol.js';
import type { HostLink } from '../../main/controller/host-link.js';
import type { LinkFrame } from '../../main/server/frame-text.js';
import { startControllerLink } from '../../main/shell/controller-link.js';
import { eventually } from '../harness/eventually.js';

/** A host that answers `hello` and `shutdown`, and ends when told. */
function fakeHost(kind: HostLink['kind'], appVersion = '1.0.0') {
  const frames: ClientFrame[] = [];
  let end: (reason: Refusal) => void = () => undefined;
  const closers = new Set<(reason: Refusal) => void>();
  const ended = new Promise<Refusal>((resolve) => {
    end = resolve;
  });
  const die = (reason: Refusal) => {
    for (const close of [...closers]) close(reason);
    closers.clear();
    end(reason);
  };
  const link: HostLink = {
    kind,
    ended,
    openClient(receive, closed) {
      closers.add(closed);
      return {
        send(frame) {
          frames.push(frame);
          if (frame.kind !== 'call') return;
          const value = frame.method === 'hello' ? { appVersion } : {};
          queueMicrotask(() => {
            receive({ kind: 'result', id: frame.id, value });
            if (frame.method === 'shutdown') die(refusal('UNAVAILABLE', 'stopped'));
          });
        },
        close: () => closers.delete(closed),
      };
    },
    shutdown() {
      frames.push({ kind: 'unsubscribe', id: 999 });
      end(refusal('DISCONNECTED', 'shut down'));
      return Promise.resolve();
    },
  };
  return { link, frames, die, wasShutDown: () => frames.some((frame) => frame.id === 999) };
}

/** A host that answers nothing until it is told to. */
function silentHost() {
  const inner = fakeHost('attached');
  let open = 0;
  const held: (() => void)[] = [];
  const link: HostLink = {
    ...inner.link,
    openClient(receive, closed) {
      open += 1;
      const client = inner.link.openClient(receive, closed);
      return {
        send: (frame) => held.push(() => client.send(frame)),
        close() {
          open -= 1;
          client.close();
        },
      };
    },
  };
  return {
    link,
    open: () => open,
    wasShutDown: inner.wasShutDown,
    speak() {
      for (const send of held.splice(0)) send();
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const hello: ClientFrame = { kind: 'call', id: 1, method: 'hello', params: {} };

function start(hosts: (() => Promise<HostLink>)[], greetingMs?: number) {
  let nowMs = 0;
  const log: string[] = [];
  const link = startControllerLink({
    connectOrStart: () => hosts.shift()?.() ?? Promise.reject(new Error('no more hosts')),
    appVersion: '1.0.0',
    log: (_level, line) => log.push(line),
    nowMs: () => nowMs,
    ...(greetingMs === undefined ? {} : { greetingMs }),
  });
  return { link, log, pass: (ms: number) => (nowMs += ms) };
}

describe('the way to the controller', () => {
  it('keeps what is sent while the controller starts', async () => {
    const host = fakeHost('own');
    let ready: (link: HostLink) => void = () => undefined;
    const { link } = start([() => new Promise((resolve) => (ready = resolve))]);
    const received: LinkFrame[] = [];
    const client = link.openClient(
      (frame) => received.push(frame),
      () => undefined,
    );
    client.send(hello);
    await settle();
    expect(link.kind()).toBeNull();
    ready(host.link);
    await settle();
    expect(received).toEqual([{ kind: 'result', id: 1, value: { appVersion: '1.0.0' } }]);
  });

  it('answers every call with the reason when there is no controller', async () => {
    const reason = refusal('DATABASE_NEWER', 'The database was written by version 9.');
    const { link } = start([() => Promise.reject(new RefusalError(reason))]);
    await settle();
    const received: LinkFrame[] = [];
    link
      .openClient(
        (frame) => received.push(frame),
        () => undefined,
      )
      .send(hello);
    await settle();
    expect(received).toEqual([{ kind: 'refused', id: 1, refusal: reason }]);
    expect(link.failure()).toEqual(reason);
  });

  it('starts a crashed controller once, then says that it will not, until asked', async () => {
    const hosts = [fakeHost('own'), fakeHost('own'), fakeHost('own')];
    const { link, pass } = start(hosts.map((host) => () => Promise.resolve(host.link)));
    await settle();
    hosts[0]?.die(refusal('INTERNAL', 'thread failed'));
    await settle();
    expect(link.kind()).toBe('own');
    pass(1000);
    hosts[1]?.die(refusal('INTERNAL', 'thread failed'));
    await settle();
    expect(link.kind()).toBeNull();
    expect(link.failure()?.message).toContain('thread failed');
    link.retry();
    await settle();
    expect(link.kind()).toBe('own');
    expect(link.failure()).toBeNull();
  });

  it('takes the folder itself when the host it was attached to ends', async () => {
    const [other, own] = [fakeHost('attached'), fakeHost('own')];
    const { link } = start([() => Promise.resolve(other.link), () => Promise.resolve(own.link)]);
    await settle();
    expect(link.kind()).toBe('attached');
    other.die(refusal('DISCONNECTED', 'gone'));
    await settle();
    expect(link.kind()).toBe('own');
  });

  it('asks an older host to leave, and stays with one of the same version', async () => {
    const [older, own] = [fakeHost('attached', '0.9.0'), fakeHost('own')];
    const taking = start([() => Promise.resolve(older.link), () => Promise.resolve(own.link)]);
    await settle();
    await settle();
    expect(older.frames.filter((frame) => frame.kind === 'call').map((frame) => frame.method)).toContain(
      'shutdown',
    );
    expect(taking.link.kind()).toBe('own');
    const same = fakeHost('attached', '1.0.0');
    const staying = start([() => Promise.resolve(same.link)]);
    await settle();
    expect(staying.link.kind()).toBe('attached');
    expect(same.frames.filter((frame) => frame.kind === 'call').map((frame) => frame.method)).toEqual([
      'hello',
    ]);
  });

  it('says so of a host that takes the connection and says nothing, and goes on once it answers', async () => {
    const stuck = silentHost();
    const back = fakeHost('attached');
    const { link } = start([() => Promise.resolve(stuck.link), () => Promise.resolve(back.link)], 20);
    await eventually(() => link.failure()?.code).toBe('UNAVAILABLE');
    expect(link.failure()?.message).toMatch(/does not answer: it has said nothing for 0\.02 s\./);
    stuck.speak();
    await eventually(() => link.kind()).toBe('attached');
    expect(stuck.open()).toBe(0);
    expect(stuck.wasShutDown()).toBe(true);
    await link.stop('quit');
  });

  it.each(['is asked for again', 'is not wanted any more'])(
    'lets go of a silent host when it %s',
    async (why) => {
      const [stuck, own] = [silentHost(), fakeHost('own')];
      const { link } = start([() => Promise.resolve(stuck.link), () => Promise.resolve(own.link)], 20);
      await eventually(() => link.failure()?.code).toBe('UNAVAILABLE');
      if (why === 'is asked for again') {
        link.retry();
        await eventually(() => link.kind()).toBe('own');
      } else await link.stop('quit');
      expect(stuck.wasShutDown()).toBe(true);
      expect(stuck.open()).toBe(0);
    },
  );

  it('stops what it started, even when it was still starting', async () => {
    const host = fakeHost('own');
    let ready: (link: HostLink) => void = () => undefined;
    const { link } = start([() => new Promise((resolve) => (ready = resolve))]);
    const stopped = link.stop('quit');
    ready(host.link);
    await stopped;
    expect(host.wasShutDown()).toBe(true);
    const reasons: string[] = [];
    link.openClient(
      () => undefined,
      (reason) => reasons.push(reason.code),
    );
    expect(reasons).toEqual([]);
    await settle();
    expect(reasons).toEqual(['UNAVAILABLE']);
  });
});
