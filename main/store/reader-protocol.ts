/** Messages between the reader's client and its thread. */
import type { Refusal } from '../../core/contract/errors.js';
import type { Reads } from './types.js';

export type ReadMethod = Exclude<keyof Reads, 'close'>;

/** A record, so that a method added to `Reads` and forgotten here does not compile. */
export const readMethods: Readonly<Record<ReadMethod, true>> = {
  jobList: true,
  children: true,
  resolveJob: true,
  jobDetail: true,
  summaries: true,
  recentlyFinished: true,
  taskList: true,
  attemptByUid: true,
  audit: true,
  inbox: true,
  counts: true,
};

export type ReaderRequest =
  | {
      readonly kind: 'read';
      readonly id: number;
      readonly method: ReadMethod;
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'close' };

export type ReaderReply =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn';
      readonly message: string;
      readonly fields: Record<string, unknown>;
    };

/** Given to the thread when it starts. */
export interface ReaderData {
  readonly path: string;
}
