/** One connected client: checks each frame against the contract, calls the handlers, keeps its subscriptions. */
import {
  contractVersion,
  methods,
  topics,
  type MethodName,
  type MethodResult,
  type ParsedParams,
  type TopicFilter,
  type TopicName,
} from '../../core/contract/api.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import { expectedWords, fieldErrors, fieldSentence } from '../../core/contract/field-errors.js';
import { clientFrameSchema, type ClientFrame, type HostFrame } from '../../core/contract/protocol.js';
import { LogAnswer, type LogFrame } from '../logs/log-answer.js';
import { describeError, type Logger } from './logger.js';
import type { Publisher, SubscriptionHandle } from './publisher.js';

/** Who speaks; the local socket's peer is the folder's owner, since nobody else may open it. */
export interface Identity {
  readonly user: string;
  /** Administers the cluster, and so may set budgets; absent is no. */
  readonly mayManage?: boolean;
}

type Answer<M extends MethodName> = MethodResult<M> | LogAnswer<MethodResult<M>>;

export type Handlers = {
  readonly [M in MethodName]: (params: ParsedParams<M>, identity: Identity) => Promise<Answer<M>> | Answer<M>;
};

export interface Session {
  receive(frame: unknown): void;
  close(): void;
}

/** Calls and subscriptions one client may have open at once. */
const maxOpen = 10_000;

export function openSession(options: {
  readonly handlers: Handlers;
  readonly publisher: Publisher;
  readonly identity: Identity;
  readonly logger: Logger;
  readonly send: (frame: HostFrame | LogFrame) => void;
  readonly close: () => void;
}): Session {
  const { handlers, publisher, identity, logger, send } = options;
  const subscriptions = new Map<number, SubscriptionHandle>();
  let openCalls = 0;
  let greeted = false;
  let closed = false;

  function refuseFrame(id: number, reason: Refusal): void {
    if (!closed) send({ kind: 'refused', id, refusal: reason });
  }

  async function call<M extends MethodName>(id: number, method: M, input: unknown): Promise<void> {
    const parsed = methods[method].params.safeParse(input, { error: expectedWords });
    if (!parsed.success) {
      // What was sent may be a secret, which no sentence repeats.
      const fields = method === 'question.answer' ? [] : fieldErrors(parsed.error, input);
      refuseFrame(id, refusal('INVALID_ARGUMENT', `${method}: ${fieldSentence(fields, 'request')}`, fields));
      return;
    }
    openCalls += 1;
    try {
      // The schema above is this method's own, so its output is what the handler takes.
      const value = await handlers[method](parsed.data as ParsedParams<M>, identity);
      if (closed) return;
      if (value instanceof LogAnswer) send({ kind: 'log', id, answer: value });
      else send({ kind: 'result', id, value });
    } catch (error) {
      if (error instanceof RefusalError) {
        refuseFrame(id, error.refusal);
        return;
      }
      logger.error(`The method ${method} failed`, describeError(error));
      refuseFrame(
        id,
        refusal('INTERNAL', `${method} failed for a reason that should not occur; the host's log has it.`),
      );
    } finally {
      openCalls -= 1;
    }
  }

  function subscribe<T extends TopicName>(id: number, topic: T, input: unknown): void {
    const parsed = topics[topic].filter.safeParse(input, { error: expectedWords });
    if (!parsed.success || subscriptions.has(id)) {
      const fields = parsed.success ? [] : fieldErrors(parsed.error, input);
      const what = parsed.success ? `the number ${id}, which is in use,` : 'filter';
      refuseFrame(id, refusal('INVALID_ARGUMENT', `topic ${topic}: ${fieldSentence(fields, what)}`, fields));
      return;
    }
    const handle = publisher.subscribe(id, topic, parsed.data as TopicFilter<T>, (frame) => {
      if (frame.kind === 'refused') subscriptions.delete(id);
      if (!closed) send(frame);
    });
    subscriptions.set(id, handle);
  }

  function greet(frame: ClientFrame): boolean {
    if (greeted) return true;
    if (frame.kind !== 'call' || frame.method !== 'hello') {
      refuseFrame(
        frame.id,
        refusal('FAILED_PRECONDITION', 'The first frame of a connection must be a call of hello.'),
      );
      options.close();
      return false;
    }
    const parsed = methods.hello.params.safeParse(frame.params);
    if (!parsed.success || parsed.data.contractVersion !== contractVersion) {
      const theirs = parsed.success ? String(parsed.data.contractVersion) : 'unknown';
      refuseFrame(
        frame.id,
        refusal(
          'VERSION_MISMATCH',
          `This controller speaks contract version ${contractVersion}, the client version ${theirs}. Use the same version of Iris Desktop for both.`,
        ),
      );
      options.close();
      return false;
    }
    greeted = true;
    return true;
  }

  return {
    receive(input) {
      if (closed) return;
      const parsed = clientFrameSchema.safeParse(input);
      if (!parsed.success) {
        const id = frameIdOf(input);
        refuseFrame(id ?? 1, unknownFrame(input));
        if (id === null) options.close();
        return;
      }
      const frame = parsed.data;
      if (!greet(frame)) return;
      switch (frame.kind) {
        case 'call':
          if (openCalls >= maxOpen) {
            refuseFrame(
              frame.id,
              refusal('RESOURCE_EXHAUSTED', `More than ${maxOpen} calls are open on this connection.`),
            );
            return;
          }
          void call(frame.id, frame.method, frame.params);
          return;
        case 'subscribe':
          if (subscriptions.size >= maxOpen) {
            refuseFrame(
              frame.id,
              refusal('RESOURCE_EXHAUSTED', `More than ${maxOpen} subscriptions are open.`),
            );
            return;
          }
          subscribe(frame.id, frame.topic, frame.filter);
          return;
        case 'unsubscribe':
          subscriptions.get(frame.id)?.end();
          subscriptions.delete(frame.id);
          return;
        case 'ack':
          subscriptions.get(frame.id)?.acknowledge(frame.seq);
          return;
      }
    },
    close() {
      closed = true;
      for (const handle of subscriptions.values()) handle.end();
      subscriptions.clear();
    },
  };
}

function frameIdOf(input: unknown): number | null {
  if (typeof input !== 'object' || input === null || !('id' in input)) return null;
  return typeof input.id === 'number' && Number.isSafeInteger(input.id) && input.id >= 1 ? input.id : null;
}

function unknownFrame(input: unknown): Refusal {
  const named = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const what = named['method'] ?? named['topic'];
  return typeof what === 'string'
    ? refusal(
        'UNIMPLEMENTED',
        `There is no ${named['kind'] === 'subscribe' ? 'topic' : 'method'} named ${what.slice(0, 100)}.`,
      )
    : refusal('INVALID_ARGUMENT', 'This is no frame of the protocol.');
}
