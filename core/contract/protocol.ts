/**
 * Frames between a client (window, irisctl, tray) and a host. Over the socket: one JSON text a line, UTF-8, at most
 * `maxFrameBytes`; over a message port: the same objects. The first frame of a client is a call of `hello`.
 */
import { z } from 'zod';
import { refusalSchema } from './errors.js';
import { methods, topics, type MethodName, type TopicName } from './api.js';

/** Longest frame either side accepts; staged files of one request fit. */
export const maxFrameBytes = 32 * 1024 * 1024;

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

export const hostFrameSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('result'), id: frameId, value: z.unknown() }),
  /** Ends a call or a subscription. */
  z.strictObject({ kind: z.literal('refused'), id: frameId, refusal: refusalSchema }),
  z.strictObject({ kind: z.literal('snapshot'), id: frameId, value: z.unknown() }),
  z.strictObject({ kind: z.literal('delta'), id: frameId, seq: z.number().int().min(1), value: z.unknown() }),
]);
export type HostFrame = z.infer<typeof hostFrameSchema>;
