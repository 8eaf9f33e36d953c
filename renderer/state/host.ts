/**
 * The window's side of the contract: promises for calls, subscriptions that outlive the connection. When the connection ends it is
 * opened again with back-off; open subscriptions start anew with a fresh snapshot, and calls that were in flight are sent again
 * (reads are harmless, commands carry a request id, so a repeat gives the first answer).
 */
import { contractVersion } from '../../core/contract/constants.js';
import type {
  MethodName,
  MethodResult,
  Params,
  TopicDelta,
  TopicFilter,
  TopicName,
  TopicSnapshot,
} from '../../core/contract/api.js';
import { createContractClient, type ContractClient } from '../../core/contract/client.js';
import type { BridgeConnection, DesktopBridge } from '../../core/contract/desktop-bridge.js';
import {
  RefusalError,
  errorCodes,
  refusal,
  type ErrorCode,
  type Refusal,
  type Result,
} from '../../core/contract/errors.js';
import type { HostStatus } from '../../core/contract/views.js';
import { firstTogether, pageSoon } from './first-frames.js';
import { createIdleInbox, pageIdle } from './idle-inbox.js';
import { createStore, type ReadableStore } from './store.js';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly status: HostStatus }
  /** Lost; `sinceMs` is when, for the status bar. */
  | { readonly kind: 'lost'; readonly sinceMs: number; readonly refusal: Refusal }
  /** The controller will not talk to this window (another version); trying again does not help. */
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface TopicListener<T extends TopicName> {
  /** The first value, and any later one that replaces everything known before. */
  readonly snapshot: (value: TopicSnapshot<T>) => void;
  readonly delta: (value: TopicDelta<T>) => void;
  /** The controller refused or ended it while the connection stands. */
  readonly ended?: (reason: Refusal) => void;
}

export interface Host {
  readonly connection: ReadableStore<ConnectionState>;
  /** Rejects with RefusalError only. Waits for a connection, but not longer than `patienceMs`. */
  readonly call: <M extends MethodName>(method: M, params: Params<M>) => Promise<MethodResult<M>>;
  readonly subscribe: <T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    listener: TopicListener<T>,
  ) => () => void;
  /** Paused (window hidden): topics are left; resumed: each takes one fresh snapshot. */
  readonly setPaused: (paused: boolean) => void;
  /** Try again now instead of waiting for the back-off. */
  readonly reconnect: () => void;
  readonly close: () => void;
}

export interface HostOptions {
  readonly connect: DesktopBridge['connect'];
  readonly now?: () => number;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
  /** How long a call waits while there is no connection. */
  readonly patienceMs?: number;
  /** Called before the first answers of a connection are taken in. */
  readonly answered?: (() => void) | undefined;
}

const firstDelayMs = 200;
const longestDelayMs = 5000;

interface PendingCall {
  readonly start: (client: ContractClient) => void;
  readonly fail: (reason: Refusal) => void;
  /** On the present connection. */
  sent: boolean;
  /** On this one or an earlier one: the controller may have done it. */
  everSent: boolean;
  /** What is said of it then, where the answer never came: what only reads was not done by it. */
  readonly unanswered: Refusal;
}

interface OpenTopic {
  readonly start: (client: ContractClient) => void;
  readonly stop: () => void;
}

const nothing = (): void => undefined;

const neverSent = refusal('UNAVAILABLE', 'The controller is not reachable; nothing was sent. Trying again.');
const unanswered = refusal('DISCONNECTED', 'The connection to the controller ended before its answer came.');
const unansweredCommand = refusal(
  'DISCONNECTED',
  'The connection to the controller ended before its answer came: it may have been done all the same. Look before you do it again.',
);

/** Asked again, they are refused again. */
const stays: ReadonlySet<string> = new Set<ErrorCode>([
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'INVALID_ARGUMENT',
  'UNIMPLEMENTED',
]);

function timeoutTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => {
    clearTimeout(timer);
  };
}

export function createHost(options: HostOptions): Host {
  const now = options.now ?? Date.now;
  const setTimer = options.setTimer ?? timeoutTimer;
  const patienceMs = options.patienceMs ?? 20_000;
  const connection = createStore<ConnectionState>({ kind: 'connecting' });
  const pending = new Set<PendingCall>();
  const topics = new Set<OpenTopic>();
  let client: ContractClient | null = null;
  let port: BridgeConnection | null = null;
  let delayMs = firstDelayMs;
  let cancelRetry: (() => void) | null = null;
  let cancelPatience: (() => void) | null = null;
  let paused = false;
  let closed = false;

  /**
   * Who takes calls. The very first connection does from its greeting on, whose answer is not waited for: the controller takes frames in
   * order, and what the first page shows comes a turn earlier. Later ones do once they stand: what cannot be sent then is said to have not been.
   */
  function ready(): ContractClient | null {
    const { kind } = connection.get();
    return kind === 'connected' || kind === 'connecting' ? client : null;
  }

  function open(): void {
    if (closed) return;
    cancelRetry?.();
    cancelRetry = null;
    const first = connection.get().kind === 'connecting';
    let alive = true;
    let flush = nothing;
    const onClosed = () => {
      // A refusal comes right before the end of its connection.
      flush();
      if (!alive) return;
      alive = false;
      lost(made);
    };
    const made = createContractClient((frame) => {
      // A port may close between the check and the send; its closing is reported by itself.
      if (alive) port?.send(frame);
    });
    client = made;
    try {
      const receive = createIdleInbox((text) => {
        if (alive) made.receive(JSON.parse(text));
      }, pageIdle());
      const together = firstTogether(receive, pageSoon(), options.answered ?? nothing);
      flush = together.flush;
      port = options.connect(together.receive, onClosed);
    } catch (error) {
      alive = false;
      lost(
        made,
        refusal('UNAVAILABLE', error instanceof Error ? error.message : 'The controller is not reachable.'),
      );
      return;
    }
    made.call('hello', { contractVersion, client: 'window' }, (result) => {
      if (!alive || closed) return;
      if (result.ok) {
        delayMs = firstDelayMs;
        cancelPatience?.();
        cancelPatience = null;
        connection.set({ kind: 'connected', status: result.value });
        if (first) return;
        for (const call of pending) call.start(made);
        if (!paused) for (const topic of topics) topic.start(made);
        return;
      }
      alive = false;
      port?.close();
      lost(made, result.refusal);
    });
  }

  function lost(
    which: ContractClient,
    reason: Refusal = refusal('DISCONNECTED', 'The connection to the controller ended.'),
  ): void {
    if (client !== which) return;
    client = null;
    port = null;
    for (const topic of topics) topic.stop();
    for (const call of pending) call.sent = false;
    which.disconnected(reason);
    if (closed) return;
    if (errorCodes[reason.code] !== 'retryable') {
      connection.set({ kind: 'refused', refusal: reason });
      failAll(reason);
      return;
    }
    const before = connection.get();
    connection.set({
      kind: 'lost',
      sinceMs: before.kind === 'lost' ? before.sinceMs : now(),
      refusal: reason,
    });
    startPatience();
    cancelRetry = setTimer(open, delayMs);
    delayMs = Math.min(longestDelayMs, delayMs * 2);
  }

  function startPatience(): void {
    cancelPatience ??= setTimer(() => {
      cancelPatience = null;
      failAll(neverSent, true);
    }, patienceMs);
  }

  function failAll(reason: Refusal, unlessSent = false): void {
    const calls = [...pending];
    pending.clear();
    for (const call of calls) call.fail(unlessSent && call.everSent ? call.unanswered : reason);
  }

  function call<M extends MethodName>(method: M, params: Params<M>): Promise<MethodResult<M>> {
    return new Promise((resolve, reject) => {
      const state = connection.get();
      if (closed || state.kind === 'refused') {
        const reason =
          state.kind === 'refused' ? state.refusal : refusal('UNAVAILABLE', 'The window is closing.');
        reject(new RefusalError(reason));
        return;
      }
      const entry: PendingCall = {
        sent: false,
        everSent: false,
        unanswered: 'requestId' in params ? unansweredCommand : unanswered,
        start(to) {
          entry.sent = true;
          entry.everSent = true;
          to.call(method, params, (result: Result<MethodResult<M>>) => {
            // Ended by the connection, not by an answer: it is still pending and will be sent again.
            if (!entry.sent) return;
            pending.delete(entry);
            if (result.ok) resolve(result.value);
            else reject(new RefusalError(result.refusal));
          });
        },
        fail(reason) {
          reject(new RefusalError(reason));
        },
      };
      pending.add(entry);
      const target = ready();
      if (target !== null) entry.start(target);
      else if (state.kind === 'lost') startPatience();
    });
  }

  function subscribe<T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    listener: TopicListener<T>,
  ): () => void {
    let leave: (() => void) | null = null;
    let cancelAgain = nothing;
    const entry: OpenTopic = {
      start(to) {
        cancelAgain();
        let current = true;
        const stop = to.subscribe(topic, filter, {
          snapshot(value) {
            if (current) listener.snapshot(value);
          },
          delta(value) {
            if (current) listener.delta(value);
          },
          ended(reason) {
            if (!current) return;
            current = false;
            leave = null;
            listener.ended?.(reason);
            // By itself, as when the database could not be read: after a while again. With its connection: the next one starts it anew.
            if (stays.has(reason.code)) return;
            cancelAgain = setTimer(() => {
              if (topics.has(entry) && leave === null && !paused && ready() === to) entry.start(to);
            }, longestDelayMs);
          },
        });
        leave = () => {
          current = false;
          stop();
        };
      },
      stop() {
        cancelAgain();
        leave?.();
        leave = null;
      },
    };
    topics.add(entry);
    const target = ready();
    if (target !== null && !paused) entry.start(target);
    return () => {
      topics.delete(entry);
      entry.stop();
    };
  }

  open();
  return {
    connection,
    call,
    subscribe,
    setPaused(next) {
      if (paused === next) return;
      paused = next;
      const target = ready();
      if (target === null) return;
      for (const topic of topics) {
        if (paused) topic.stop();
        else topic.start(target);
      }
    },
    reconnect() {
      if (client !== null || closed) return;
      delayMs = firstDelayMs;
      open();
    },
    close() {
      closed = true;
      cancelRetry?.();
      cancelPatience?.();
      for (const topic of topics) topic.stop();
      port?.close();
      failAll(refusal('UNAVAILABLE', 'The window is closing.'));
    },
  };
}
