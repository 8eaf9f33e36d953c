/** What is said of a machine reached by SSH where nothing can be written any more: its disk is full, or a quota used up. */
import type { LogCut } from '../../../../core/formats/log-cut.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { FarPlace } from './far-start.js';
import type { FarWord } from './far-words.js';

export function diskThere(place: FarPlace | undefined, uid: string, why: string): string {
  return `${place?.folder ?? ''}/${uid} there: ${why}`;
}

/** Sizes of both streams, from that text on. */
export function writtenOf(word: FarWord, at: number): LogCut {
  return { out: word.number(at) ?? 0, err: word.number(at + 1) ?? 0 };
}

/** `full`: why nothing can be written there; empty: something can. */
export function notStartedFor(full: string): Cause {
  const message = 'The process that watches over the task ended before it could start it';
  if (full === '') return { code: 'START_FAILED', message: `${message}; is the disk there full?` };
  return { code: 'LOG_STORAGE_FULL', message: `${message}: nothing can be written there (${full}).` };
}
