/**
 * The client's side of the protocol without transport, promises or timers: frames go out through `send`, frames come in through
 * `receive`, answers through callbacks. Window, tray and irisctl wrap it each in their own way.
 */
import type {
  MethodName,
  MethodResult,
  Params,
  TopicDelta,
  TopicFilter,
  TopicName,
  TopicSnapshot,
} from './api.js';
import { refusal, type Refusal, type Result } from './errors.js';
import { readHostFrame } from './host-frames.js';
import type { ClientFrame } from './protocol.js';

export interface SubscriptionHandlers<T extends TopicName> {
  /** The first snapshot, and any later one that replaces everything known before. */
  snapshot(value: TopicSnapshot<T>): void;
  delta(value: TopicDelta<T>): void;
  /** The subscription is over; nothing more comes. */
  ended(reason: Refusal): void;
}

export interface ContractClient {
  call<M extends MethodName>(
    method: M,
    params: Params<M>,
    done: (result: Result<MethodResult<M>>) => void,
  ): void;
  /** Returns the function that ends the subscription. */
  subscribe<T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    handlers: SubscriptionHandlers<T>,
  ): () => void;
  /** One frame from the host; anything that is no host frame is ignored and returned as false. */
  receive(frame: unknown): boolean;
  /** The connection is gone: every open call and subscription ends with this refusal. */
  disconnected(reason?: Refusal): void;
}

interface OpenSubscription {
  readonly topic: TopicName;
  readonly filter: unknown;
  readonly handlers: SubscriptionHandlers<TopicName>;
  seq: number;
}

export function createContractClient(send: (frame: ClientFrame) => void): ContractClient {
  let nextId = 1;
  const calls = new Map<number, (result: Result<unknown>) => void>();
  const subscriptions = new Map<number, OpenSubscription>();

  function open(subscription: OpenSubscription): number {
    const id = nextId++;
    subscriptions.set(id, subscription);
    send({ kind: 'subscribe', id, topic: subscription.topic, filter: subscription.filter });
    return id;
  }

  return {
    call(method, params, done) {
      const id = nextId++;
      calls.set(id, done as (result: Result<unknown>) => void);
      send({ kind: 'call', id, method, params });
    },

    subscribe(topic, filter, handlers) {
      // A gap makes a new subscription under a new id, so the id is looked up through this record.
      const subscription: OpenSubscription = {
        topic,
        filter,
        handlers,
        seq: 0,
      };
      open(subscription);
      return () => {
        for (const [id, candidate] of subscriptions) {
          if (candidate !== subscription) continue;
          subscriptions.delete(id);
          send({ kind: 'unsubscribe', id });
        }
      };
    },

    receive(input) {
      const frame = readHostFrame(input);
      if (frame === null) return false;
      if (frame.kind === 'result') {
        const done = calls.get(frame.id);
        calls.delete(frame.id);
        done?.({ ok: true, value: frame.value });
        return true;
      }
      if (frame.kind === 'refused') {
        const done = calls.get(frame.id);
        calls.delete(frame.id);
        done?.({ ok: false, refusal: frame.refusal });
        const subscription = subscriptions.get(frame.id);
        subscriptions.delete(frame.id);
        subscription?.handlers.ended(frame.refusal);
        return true;
      }
      const subscription = subscriptions.get(frame.id);
      if (subscription === undefined) return true;
      if (frame.kind === 'snapshot') {
        subscription.seq = 0;
        subscription.handlers.snapshot(frame.value as TopicSnapshot<TopicName>);
        send({ kind: 'ack', id: frame.id, seq: 0 });
        return true;
      }
      if (frame.seq !== subscription.seq + 1) {
        subscriptions.delete(frame.id);
        send({ kind: 'unsubscribe', id: frame.id });
        open(subscription);
        return true;
      }
      subscription.seq = frame.seq;
      subscription.handlers.delta(frame.value as TopicDelta<TopicName>);
      if (subscriptions.has(frame.id)) send({ kind: 'ack', id: frame.id, seq: frame.seq });
      return true;
    },

    disconnected(reason = refusal('DISCONNECTED', 'The connection to the controller ended.')) {
      const openCalls = [...calls.values()];
      const openSubscriptions = [...subscriptions.values()];
      calls.clear();
      subscriptions.clear();
      for (const done of openCalls) done({ ok: false, refusal: reason });
      for (const subscription of openSubscriptions) subscription.handlers.ended(reason);
    },
  };
}
