/**
 * Frames between a client (window, irisctl, tray) and a host. Over the socket: one JSON text a line, UTF-8, at most
 * `maxFrameBytes`; over a message port: the same objects. The first frame of a client is a call of `hello`.
 */
import { z } from 'zod';
import { methods, topics, type MethodName, type TopicName } from './api.js';

export { maxFrameBytes, type HostFrame } from './host-frames.js';

/** Chosen by the client, unique on its connection, for calls and subscriptions alike. */
const frameId = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

const methodName = z.enum(Object.keys(methods) as [MethodName, ...MethodName[]]);
const topicName = z.enum(Object.keys(topics) as [TopicName, ...TopicName[]]);

export const clientFrameSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('call'), id: frameId, method: methodName, params: z.unknown() }),
  z.strictObject({ kind: z.literal('subscribe'), id: frameId, topic: topicName, filter: z.unknown() }),
  z.strictObject({ kind: z.literal('unsubscribe'), id: frameId }),
  /** Confirms a delta (or snapshot, seq 0) so that the next may come. */
  z.strictObject({ kind: z.literal('ack'), id: frameId, seq: z.number().int().min(0) }),
]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;
