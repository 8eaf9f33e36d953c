/**
 * What a client needs of the protocol. Apart from the rest, which brings the schemas of the whole contract: window and desktop start
 * without them.
 */
import { z } from 'zod';
import { refusalSchema } from './errors.js';

/** Longest frame either side accepts; staged files of one request fit. */
export const maxFrameBytes = 32 * 1024 * 1024;

/** Chosen by the client, unique on its connection, for calls and subscriptions alike. */
export const frameId = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

export const hostFrameSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('result'), id: frameId, value: z.unknown() }),
  /** Ends a call or a subscription. */
  z.strictObject({ kind: z.literal('refused'), id: frameId, refusal: refusalSchema }),
  z.strictObject({ kind: z.literal('snapshot'), id: frameId, value: z.unknown() }),
  z.strictObject({ kind: z.literal('delta'), id: frameId, seq: z.number().int().min(1), value: z.unknown() }),
]);
export type HostFrame = z.infer<typeof hostFrameSchema>;
