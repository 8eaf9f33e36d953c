/** The main thread's own client of the controller, for tray, notifications and quitting: promises, and subscriptions that outlive the connection. */
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
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import { readLinkFrame } from '../server/frame-text.js';
import type { ControllerLink } from './controller-link.js';

const firstDelayMs = 200;
const longestDelayMs = 5000;

export interface ShellClient {
  /** Rejects with RefusalError only; UNAVAILABLE at once while there is no connection. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<MethodResult<M>>;
  subscribe<T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    snapshot: (value: TopicSnapshot<T>) => void,
    delta: (value: TopicDelta<T>) => void,
  ): () => void;
  /** Called at once with the present state, then on each change; null: connected. Returns the function that ends it. */
  onState(listener: (problem: Refusal | null) => void): () => void;
  close(): void;
}

export function createShellClient(link: Pick<ControllerLink, 'openClient'>): ShellClient {
  const starters = new Set<(client: ContractClient) => void>();
  const stateListeners = new Set<(problem: Refusal | null) => void>();
  let ready: ContractClient | null = null;
  let problem: Refusal | null = refusal('UNAVAILABLE', 'Connecting to the controller.');
  let channel: { close(): void } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delayMs = firstDelayMs;
  let closed = false;

  function announce(next: Refusal | null): void {
    problem = next;
    for (const listener of stateListeners) listener(next);
  }

  function open(): void {
    let alive = true;
    const client = createContractClient((frame) => {
      if (alive) opened.send(frame);
    });
    const lose = (reason: Refusal) => {
      if (!alive) return;
      alive = false;
      ready = null;
      opened.close();
      client.disconnected(reason);
      if (closed) return;
      announce(reason);
      timer = setTimeout(open, delayMs);
      delayMs = Math.min(longestDelayMs, delayMs * 2);
    };
    const opened = link.openClient((frame) => client.receive(readLinkFrame(frame)), lose);
    channel = opened;
    client.call('hello', { contractVersion, client: 'desktop' }, (answer) => {
      if (!alive) return;
      if (!answer.ok) {
        lose(answer.refusal);
        return;
      }
      ready = client;
      delayMs = firstDelayMs;
      for (const start of starters) start(client);
      announce(null);
    });
  }

  open();
  return {
    call(method, params) {
      return new Promise((resolve, reject) => {
        if (ready === null) {
          reject(new RefusalError(problem ?? refusal('UNAVAILABLE', 'There is no controller.')));
          return;
        }
        ready.call(method, params, (answer) => {
          if (answer.ok) resolve(answer.value);
          else reject(new RefusalError(answer.refusal));
        });
      });
    },
    subscribe(topic, filter, snapshot, delta) {
      let leave: (() => void) | null = null;
      let again: ReturnType<typeof setTimeout> | undefined;
      const start = (client: ContractClient) => {
        clearTimeout(again);
        leave = client.subscribe(topic, filter, {
          snapshot,
          delta,
          ended: () => {
            leave = null;
            // With its connection: the next one starts it anew. By itself, as when the database could not be read: after a while.
            again = setTimeout(() => {
              if (ready === client && starters.has(start)) start(client);
            }, longestDelayMs);
          },
        });
      };
      starters.add(start);
      if (ready !== null) start(ready);
      return () => {
        starters.delete(start);
        clearTimeout(again);
        leave?.();
      };
    },
    onState(listener) {
      stateListeners.add(listener);
      listener(problem);
      return () => stateListeners.delete(listener);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      ready = null;
      channel?.close();
      stateListeners.clear();
      starters.clear();
    },
  };
}
