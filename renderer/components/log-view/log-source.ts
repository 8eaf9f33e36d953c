/** Reads an attempt's log by byte cursors: both streams merged, or one of them. */
import type { MethodResult } from '../../../core/contract/api.js';
import type { Host } from '../../state/host.js';
import type { LogChunk, StreamName } from './composer.js';

export type StreamChoice = 'both' | StreamName;

/** A place in the log: what was read of each stream. With one stream chosen the other's number stays 0. */
export interface LogPlace {
  readonly out: number;
  readonly err: number;
}

export interface LogPage {
  readonly chunks: readonly LogChunk[];
  /** Where the next page starts. */
  readonly next: LogPlace;
  /** Sizes now. */
  readonly size: LogPlace;
  /** Nothing more will come and `next` is the end. */
  readonly complete: boolean;
}

export interface LogSource {
  /** From a place on, or about the last `maxBytes`. */
  readonly read: (from: LogPlace | 'tail', maxBytes: number) => Promise<LogPage>;
}

export const logStart: LogPlace = { out: 0, err: 0 };

export function bytesBetween(from: LogPlace, to: LogPlace): number {
  return Math.max(0, to.out - from.out) + Math.max(0, to.err - from.err);
}

export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export function createLogSource(
  host: Pick<Host, 'call'>,
  attemptUid: string,
  choice: StreamChoice,
): LogSource {
  if (choice === 'both') {
    return {
      async read(from, maxBytes) {
        const answer = await host.call('log.merged', {
          attemptUid,
          cursor: from === 'tail' ? null : from,
          tail: from === 'tail',
          maxBytes,
        });
        return mergedPage(answer);
      },
    };
  }
  return {
    async read(from, maxBytes) {
      const readAt = (offset: number, bytes: number) =>
        host.call('log.read', { attemptUid, stream: choice, offset, maxBytes: bytes });
      let offset: number;
      if (from === 'tail') {
        const first = await readAt(0, 1);
        offset = Math.max(0, first.size - maxBytes);
      } else offset = from[choice];
      const answer = await readAt(offset, maxBytes);
      const bytes = decodeBase64(answer.dataBase64);
      const at = (value: number): LogPlace => ({ ...logStart, [choice]: value });
      return {
        chunks: bytes.length === 0 ? [] : [{ stream: choice, offset, bytes }],
        next: at(offset + bytes.length),
        size: at(answer.size),
        complete: answer.complete && offset + bytes.length >= answer.size,
      };
    },
  };
}

function mergedPage(answer: MethodResult<'log.merged'>): LogPage {
  return {
    chunks: answer.chunks.map((chunk) => ({
      stream: chunk.stream,
      offset: chunk.offset,
      bytes: decodeBase64(chunk.dataBase64),
    })),
    next: answer.cursor,
    size: { out: answer.outSize, err: answer.errSize },
    complete: answer.complete,
  };
}
