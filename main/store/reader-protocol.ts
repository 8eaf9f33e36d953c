/** Messages between the reader's client and its thread. */
import type { Refusal } from '../../core/contract/errors.js';
import type { Reads } from './types.js';

export type ReadMethod = Exclude<keyof Reads, 'close'>;

export const readMethods: readonly ReadMethod[] = [
  'jobList',
  'children',
  'resolveJob',
  'jobDetail',
  'summaries',
  'recentlyFinished',
  'taskList',
  'attemptByUid',
  'audit',
  'inbox',
  'counts',
];

export type ReaderRequest =
  | { readonly kind: 'read'; readonly id: number; readonly method: ReadMethod; readonly args: readonly unknown[] }
  | { readonly kind: 'close' };

export type ReaderReply =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly fields: Record<string, unknown> };

/** Given to the thread when it starts. */
export interface ReaderData {
  readonly path: string;
}
