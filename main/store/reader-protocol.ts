/** Messages between the reader's client and its thread. */
import { refusal, RefusalError, type Refusal } from '../../core/contract/errors.js';
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
  lanes: true,
  taskList: true,
  attemptByUid: true,
  audit: true,
  inbox: true,
  counts: true,
};

/** Client and thread are of one build, so the arguments are those of the method. */
export function answerOf(reads: Reads, method: ReadMethod, args: readonly unknown[]): unknown {
  const methods = reads as unknown as Readonly<
    Record<ReadMethod, (...values: readonly unknown[]) => unknown>
  >;
  return methods[method](...args);
}

export function refusalOf(method: ReadMethod, error: unknown): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  const reason = error instanceof Error ? error.message : String(error);
  return refusal('INTERNAL', `Reading ${method} failed: ${reason}`);
}

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
  /** It copies the database there and ends, instead of answering. */
  readonly copyTo?: string;
}
