/** The contract over a real socket, with promises, for tests. */
import type { MethodName, MethodResult, Params, TopicFilter, TopicName } from '../../core/contract/api.js';
import { contractVersion } from '../../core/contract/api.js';
import { createContractClient, type SubscriptionHandlers } from '../../core/contract/client.js';
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import { connectSocket } from '../../main/server/socket-client.js';

export interface TestClient {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<MethodResult<M>>;
  subscribe<T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    handlers: SubscriptionHandlers<T>,
  ): () => void;
  /** Resolves once the subscription gave a value for which `wanted` holds; the value is the latest snapshot or delta. */
  until<T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    wanted: (value: unknown) => boolean,
  ): Promise<void>;
  readonly closed: Promise<Refusal>;
  close(): void;
}

/** Connects and greets. */
export async function connectClient(socket: string): Promise<TestClient> {
  let gone: (reason: Refusal) => void = () => undefined;
  const closed = new Promise<Refusal>((resolve) => {
    gone = resolve;
  });
  const connection = await connectSocket(
    socket,
    (frame) => void client.receive(frame),
    (reason) => {
      client.disconnected(reason);
      gone(reason);
    },
  );
  const client = createContractClient((frame) => connection.send(frame));
  const call: TestClient['call'] = (method, params) =>
    new Promise((resolve, reject) => {
      client.call(method, params, (result) => {
        if (result.ok) resolve(result.value);
        else reject(new RefusalError(result.refusal));
      });
    });
  await call('hello', { contractVersion, client: 'test' });
  return {
    call,
    closed,
    subscribe: (topic, filter, handlers) => client.subscribe(topic, filter, handlers),
    until: (topic, filter, wanted) =>
      new Promise((resolve, reject) => {
        const look = (value: unknown) => {
          if (!wanted(value)) return;
          end();
          resolve();
        };
        const end = client.subscribe(topic, filter, {
          snapshot: look,
          delta: look,
          ended: (reason) => reject(new RefusalError(reason)),
        });
      }),
    close: () => connection.close(),
  };
}
