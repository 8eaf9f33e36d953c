/** Pages of a log: where they begin and end, and their parts. */
import type { LogChunk } from './composer.js';
import { logStart, type LogPage, type LogPlace } from './log-source.js';

/** Drawn at once, and the grain of what is remembered about the screen. */
const portionBytes = 32 * 1024;

export function largest(left: LogPlace, right: LogPlace): LogPlace {
  return { out: Math.max(left.out, right.out), err: Math.max(left.err, right.err) };
}

export const total = (place: LogPlace): number => place.out + place.err;

/** Where a page begins in each stream. */
export function startOf(page: LogPage): LogPlace {
  const at = (stream: 'out' | 'err') =>
    page.chunks.find((chunk) => chunk.stream === stream)?.offset ?? page.next[stream];
  return { out: at('out'), err: at('err') };
}

/** About `bytes` earlier: each stream goes back by its share of what there is before. */
export function placeBefore(place: LogPlace, bytes: number): LogPlace {
  const all = total(place);
  if (all <= bytes) return logStart;
  return {
    out: Math.max(0, place.out - Math.ceil((bytes * place.out) / all)),
    err: Math.max(0, place.err - Math.ceil((bytes * place.err) / all)),
  };
}

interface Portion {
  readonly from: LogPlace;
  readonly chunks: readonly LogChunk[];
}

/** The page in portions of bounded size, each with the place it starts at. */
export function portions(page: LogPage, from: LogPlace): Portion[] {
  const result: Portion[] = [];
  let place = from;
  let chunks: LogChunk[] = [];
  let bytes = 0;
  let startsAt = from;
  for (const chunk of page.chunks) {
    for (let at = 0; at < chunk.bytes.length;) {
      const part = chunk.bytes.subarray(at, at + portionBytes - bytes);
      chunks.push({ stream: chunk.stream, offset: chunk.offset + at, bytes: part });
      at += part.length;
      bytes += part.length;
      place = { ...place, [chunk.stream]: chunk.offset + at };
      if (bytes < portionBytes) continue;
      result.push({ from: startsAt, chunks });
      startsAt = place;
      chunks = [];
      bytes = 0;
    }
  }
  if (chunks.length > 0 || result.length === 0) result.push({ from: startsAt, chunks });
  return result;
}
