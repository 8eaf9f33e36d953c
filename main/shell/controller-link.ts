/**
 * The desktop's one way to a controller over its whole life: starts or attaches, starts again once after a crash, moves to an own
 * controller when the one it was attached to ends or is older, and comes back to one that hung. Connections opened meanwhile wait; when
 * there is no controller to be had, each call on them is refused with the reason.
 */
import { contractVersion } from '../../core/contract/constants.js';
import { createContractClient, type ContractClient } from '../../core/contract/client.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { ClientFrame } from '../../core/contract/protocol.js';
import type { HostStatus } from '../../core/contract/views.js';
import type { HostLink, LinkClient } from '../controller/host-link.js';
import { readLinkFrame, type LinkFrame } from '../server/frame-text.js';
import { watchSilence, type Asked } from './silence.js';
import { isOlderVersion } from './versions.js';

/** A second crash within this time is not answered by another start. */
const crashWindowMs = 60_000;
/** Frames a connection may hold while the controller starts. */
const mostWaitingFrames = 1000;
const takeoverPatienceMs = 15_000;
/** A controller that is alive answers its greeting at once; one that does not is stuck. */
const usualGreetingMs = 10_000;
/** A host that is attached to is asked so often whether it still answers; it counts as silent after twice that. */
const usualAskMs = 5000;
const nothing = (): void => undefined;

export interface ControllerLinkOptions {
  readonly connectOrStart: () => Promise<HostLink>;
  readonly appVersion: string;
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void;
  readonly nowMs: () => number;
  readonly greetingMs?: number;
  readonly askMs?: number;
}

export interface ControllerLink {
  /** `closed` is called once, never inside this call, and not after `close`. */
  openClient(receive: (frame: LinkFrame) => void, closed: (reason: Refusal) => void): LinkClient;
  /** `own` or `attached`; null while there is none. */
  kind(): HostLink['kind'] | null;
  /** Why there is no controller and none will be tried; null otherwise. */
  failure(): Refusal | null;
  /** Tries again after a failure. */
  retry(): void;
  /** Ends the own controller after its last commit, or detaches. Says which it was. */
  stop(reason: string): Promise<HostLink['kind'] | null>;
}

type State =
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready'; readonly link: HostLink }
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'stopped' };

export function startControllerLink(options: ControllerLinkOptions): ControllerLink {
  let state: State = { kind: 'starting' };
  let lastCrashAtMs = Number.NEGATIVE_INFINITY;
  let starting: Promise<void>;
  const waiting = new Set<{ enter(link: HostLink): void; refuse(reason: Refusal): void }>();
  /** Of each open connection: what ends it from here. */
  const joined = new Set<(reason: Refusal) => void>();
  const askMs = options.askMs ?? usualAskMs;
  let stopAsking = nothing;
  /** Lets go of a host that is silent. */
  let letGo = nothing;

  /** Read through a function: the state changes while a promise is waited for. */
  const isStopped = () => state.kind === 'stopped';

  async function start(): Promise<void> {
    state = { kind: 'starting' };
    letGo();
    try {
      const link = await upToDateLink();
      if (isStopped()) {
        await link.shutdown('the desktop quits');
        return;
      }
      state = { kind: 'ready', link };
      void link.ended.then((reason) => onEnded(link, reason));
      if (link.kind === 'attached') {
        stopAsking = watchSilence(
          () => helloOf(link),
          askMs,
          (asked) => onSilent(new NoAnswer(link, asked, 2 * askMs)),
        );
      }
      options.log('info', `Connected to a controller (${link.kind}).`);
      for (const entry of [...waiting]) entry.enter(link);
      waiting.clear();
    } catch (error) {
      fail(error instanceof RefusalError ? error.refusal : refusal('INTERNAL', messageOf(error)));
      if (error instanceof NoAnswer) awaitWord(error);
    }
  }

  function onSilent(silence: NoAnswer): void {
    fail(silence.refusal);
    for (const cut of [...joined]) cut(silence.refusal);
    awaitWord(silence);
  }

  /** The connection to a silent host is kept: when it speaks on it, or is gone, there is a controller to be had. */
  function awaitWord({ link, asked }: NoAnswer): void {
    let over = false;
    const drop = () => {
      over = true;
      letGo = nothing;
      asked.close();
      void link.shutdown('it does not answer');
    };
    if (isStopped()) {
      drop();
      return;
    }
    letGo = drop;
    void Promise.race([asked.answer, link.ended]).then(() => {
      if (over) return;
      options.log('info', 'The controller that did not answer is back, or gone.');
      starting = start();
    });
  }

  /** A host of an older version is asked to leave the folder to us; attempts go on meanwhile. */
  async function upToDateLink(): Promise<HostLink> {
    const link = await options.connectOrStart();
    if (link.kind === 'own') return link;
    const status = await greeted(link, options.greetingMs ?? usualGreetingMs);
    if (status === null || !isOlderVersion(status.appVersion, options.appVersion)) return link;
    options.log('info', `The controller there is version ${status.appVersion}; taking over from it.`);
    const asked = askToShutDown(link, `version ${options.appVersion} takes over`);
    await within(asked.answer, takeoverPatienceMs);
    await within(link.ended, takeoverPatienceMs);
    asked.close();
    await link.shutdown('replaced');
    return options.connectOrStart();
  }

  function onEnded(link: HostLink, reason: Refusal): void {
    if (state.kind !== 'ready' || state.link !== link) return;
    stopAsking();
    options.log('warn', `The controller (${link.kind}) ended: ${reason.message}`);
    if (link.kind === 'own') {
      const now = options.nowMs();
      const again = now - lastCrashAtMs < crashWindowMs && now >= lastCrashAtMs;
      lastCrashAtMs = now;
      if (again) {
        fail(
          refusal(
            'INTERNAL',
            `The controller ended twice within a minute (${reason.message}) and is not started again. Running jobs go on. Choose Try again in the menu, or restart Iris Desktop.`,
          ),
        );
        return;
      }
    }
    starting = start();
  }

  function fail(reason: Refusal): void {
    if (isStopped()) return;
    options.log('error', `No controller: ${reason.code}: ${reason.message}`);
    state = { kind: 'failed', refusal: reason };
    for (const entry of [...waiting]) entry.refuse(reason);
    waiting.clear();
  }

  function openClient(receive: (frame: LinkFrame) => void, closed: (reason: Refusal) => void): LinkClient {
    if (state.kind === 'ready') return join(state.link, receive, closed);
    if (state.kind === 'failed') return refusingClient(state.refusal, receive);
    if (state.kind === 'stopped') {
      queueMicrotask(() => closed(refusal('UNAVAILABLE', 'Iris Desktop is quitting.')));
      return { send: () => undefined, close: () => undefined };
    }
    return waitingClient(receive, closed);
  }

  /** A host that hangs closes nothing: its connections are ended from here. */
  function join(
    link: HostLink,
    receive: (frame: LinkFrame) => void,
    closed: (reason: Refusal) => void,
  ): LinkClient {
    const inner = link.openClient(receive, (reason) => {
      joined.delete(cut);
      closed(reason);
    });
    const cut = (reason: Refusal) => {
      joined.delete(cut);
      inner.close();
      closed(reason);
    };
    joined.add(cut);
    return {
      send: (frame) => inner.send(frame),
      close() {
        joined.delete(cut);
        inner.close();
      },
    };
  }

  function waitingClient(receive: (frame: LinkFrame) => void, closed: (reason: Refusal) => void): LinkClient {
    let inner: LinkClient | null = null;
    let over = false;
    const frames: ClientFrame[] = [];
    const settle = (client: LinkClient) => {
      inner = client;
      for (const frame of frames.splice(0)) client.send(frame);
    };
    const entry = {
      enter: (link: HostLink) => settle(join(link, receive, closed)),
      refuse: (reason: Refusal) => settle(refusingClient(reason, receive)),
    };
    waiting.add(entry);
    return {
      send(frame) {
        if (over) return;
        if (inner !== null) inner.send(frame);
        else if (frames.length < mostWaitingFrames) frames.push(frame);
        else {
          over = true;
          waiting.delete(entry);
          queueMicrotask(() =>
            closed(refusal('RESOURCE_EXHAUSTED', 'Too many frames before the controller answered.')),
          );
        }
      },
      close() {
        over = true;
        waiting.delete(entry);
        inner?.close();
      },
    };
  }

  starting = start();
  return {
    openClient,
    kind: () => (state.kind === 'ready' ? state.link.kind : null),
    failure: () => (state.kind === 'failed' ? state.refusal : null),
    retry() {
      if (state.kind !== 'failed') return;
      lastCrashAtMs = Number.NEGATIVE_INFINITY;
      starting = start();
    },
    async stop(reason) {
      const before = state;
      state = { kind: 'stopped' };
      stopAsking();
      letGo();
      for (const entry of [...waiting]) entry.refuse(refusal('UNAVAILABLE', 'Iris Desktop is quitting.'));
      waiting.clear();
      if (before.kind === 'starting') await starting;
      if (before.kind !== 'ready') return null;
      await before.link.shutdown(reason);
      return before.link.kind;
    },
  };
}

/** Answers every call and subscription with the reason why there is no controller. */
function refusingClient(reason: Refusal, receive: (frame: LinkFrame) => void): LinkClient {
  let over = false;
  return {
    send(frame) {
      if (frame.kind !== 'call' && frame.kind !== 'subscribe') return;
      const { id } = frame;
      queueMicrotask(() => {
        if (!over) receive({ kind: 'refused', id, refusal: reason });
      });
    },
    close() {
      over = true;
    },
  };
}

/** There is a host, which says nothing: its link and the question it has not answered yet. */
class NoAnswer extends RefusalError {
  constructor(
    readonly link: HostLink,
    readonly asked: Asked<unknown>,
    silentMs: number,
  ) {
    super(
      refusal(
        'UNAVAILABLE',
        `The controller has the data folder and does not answer: it has said nothing for ${silentMs / 1000} s. Iris Desktop goes on as soon as it answers; if it never does, end its process. Running jobs go on.`,
      ),
    );
  }
}

/** The status of a host, null when it does not speak our contract. Throws NoAnswer. */
async function greeted(link: HostLink, greetingMs: number): Promise<HostStatus | null> {
  const asked = helloOf(link);
  const answer = await within(asked.answer, greetingMs);
  if (answer === undefined) throw new NoAnswer(link, asked, greetingMs);
  asked.close();
  return answer;
}

function askOn<T>(link: HostLink, ask: (client: ContractClient, done: (value: T) => void) => void): Asked<T> {
  const client = createContractClient((frame) => channel.send(frame));
  const channel = link.openClient(
    (frame) => client.receive(readLinkFrame(frame)),
    (reason) => client.disconnected(reason),
  );
  return { answer: new Promise((resolve) => ask(client, resolve)), close: () => channel.close() };
}

function helloOf(link: HostLink): Asked<HostStatus | null> {
  return askOn(link, (client, done) => {
    client.call('hello', { contractVersion, client: 'desktop' }, (answer) => {
      done(answer.ok ? answer.value : null);
    });
  });
}

function askToShutDown(link: HostLink, reason: string): Asked<undefined> {
  return askOn(link, (client, done) => {
    client.call('hello', { contractVersion, client: 'desktop' }, () => undefined);
    client.call('shutdown', { reason }, () => done(undefined));
  });
}

/** Undefined: not within that time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const answer = await Promise.race([promise, late]);
  clearTimeout(timer);
  return answer;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
