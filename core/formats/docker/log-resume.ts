/**
 * Where the copy of a container's log stands, so that it goes on after a break without a message lost or doubled. Each message
 * comes with the Engine's time stamp; several may have the same one, so those taken at it are counted.
 */
import { parseTimeBound } from '../times.js';
import type { LogFrame, LogStream } from './log-frames.js';

export interface StreamPoint {
  /** Of the last message taken; null: none yet. Fixed width, so that text order is time order. */
  readonly stamp: string | null;
  /** Messages taken at that stamp. */
  readonly atStamp: number;
  /** Messages taken in all. */
  readonly total: number;
  /** The clock was set back while it logged: only counting from the start is exact then. */
  readonly wentBack: boolean;
}

export type ResumePoint = Readonly<Record<LogStream, StreamPoint>>;

const begin: StreamPoint = { stamp: null, atStamp: 0, total: 0, wentBack: false };
export const logStart: ResumePoint = { out: begin, err: begin };

/** Streams are stamped one beside the other, and their order in the log may differ from the order of their stamps by a moment. */
const marginMs = 500;
/** Its zone stands behind the nanoseconds. */
const stampBytes = 30;

/**
 * What the Engine is asked from; null: from the start. What was not taken yet comes after what was, in whichever stream, so the later
 * of the two counts.
 */
export function sinceOf({ out, err }: ResumePoint): string | null {
  if (out.wentBack || err.wentBack) return null;
  const last = [out.stamp, err.stamp]
    .filter((stamp) => stamp !== null)
    .sort()
    .at(-1);
  const at = parseTimeBound(`${last?.slice(0, 23) ?? ''}${last?.slice(stampBytes - 1) ?? ''}`);
  return at?.kind === 'at' ? (Math.max(0, at.ms - marginMs) / 1000).toFixed(3) : null;
}

const stampPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;
/** As Podman has it: of whole seconds, in the time of its machine. */
const longestStamp = 35;
const otherPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

export interface StampedMessage extends LogFrame {
  readonly stamp: string;
}

/** Takes the time stamp off a frame that was asked for with one. */
export function readStamped({ stream, data }: LogFrame): StampedMessage | null {
  const stamp = String.fromCharCode(...data.subarray(0, stampBytes));
  if (stampPattern.test(stamp) && data[stampBytes] === 0x20)
    return { stream, stamp, data: data.subarray(stampBytes + 1) };
  const end = data.subarray(0, longestStamp + 1).indexOf(0x20);
  const other = end < 0 ? null : sameWidth(String.fromCharCode(...data.subarray(0, end)));
  return other === null ? null : { stream, stamp: other, data: data.subarray(end + 1) };
}

function sameWidth(text: string): string | null {
  const [found, second = '', fraction = '', zone = ''] = otherPattern.exec(text) ?? [];
  // In its own zone: where that changes the clock seems to be set, back or forth.
  return found === undefined ? null : `${second}.${fraction.padEnd(9, '0')}${zone}`;
}

/**
 * True when nothing is missing between what was taken and these last messages of the log: the first of them was taken before, so was
 * all in front of it, and of neither stream may messages at its last stamp lie there, which the filter would count among these.
 */
export function joinsTaken(
  messages: readonly Pick<StampedMessage, 'stream' | 'stamp'>[],
  point: ResumePoint,
): boolean {
  const [first] = messages;
  const taken = first === undefined ? null : point[first.stream].stamp;
  if (first === undefined || taken === null || first.stamp > taken) return false;
  return (['out', 'err'] as const).every(
    (stream) => messages.find((message) => message.stream === stream)?.stamp !== point[stream].stamp,
  );
}

interface Reading {
  point: StreamPoint;
  /** Messages that were taken before the break and come again: so many, or those at and before the stamp. */
  skip:
    { readonly kind: 'count'; left: number } | { readonly kind: 'stamp'; stamp: string; left: number } | null;
}

/** Told every message the Engine sends after a break, it says which are new. */
export class ResumeFilter {
  private readonly streams: Record<LogStream, Reading>;

  constructor(from: ResumePoint) {
    const byCount = sinceOf(from) === null;
    const reading = (point: StreamPoint): Reading => ({ point, skip: skipOf(point, byCount) });
    this.streams = { out: reading(from.out), err: reading(from.err) };
  }

  /** True: not taken yet, and counted as taken from now on. */
  isNew({ stream, stamp }: Pick<StampedMessage, 'stream' | 'stamp'>): boolean {
    const reading = this.streams[stream];
    if (isRepeated(reading, stamp)) return false;
    const { point } = reading;
    const same = point.stamp === stamp;
    reading.point = {
      stamp,
      atStamp: same ? point.atStamp + 1 : 1,
      total: point.total + 1,
      wentBack: point.wentBack || (point.stamp !== null && stamp < point.stamp),
    };
    return true;
  }

  point(): ResumePoint {
    return { out: this.streams.out.point, err: this.streams.err.point };
  }
}

function skipOf(point: StreamPoint, byCount: boolean): Reading['skip'] {
  if (point.stamp === null) return null;
  return byCount
    ? { kind: 'count', left: point.total }
    : { kind: 'stamp', stamp: point.stamp, left: point.atStamp };
}

function isRepeated(reading: Reading, stamp: string): boolean {
  const { skip } = reading;
  if (skip === null) return false;
  if (skip.kind === 'stamp' && stamp < skip.stamp) return true;
  if (skip.kind === 'stamp' && stamp > skip.stamp) {
    reading.skip = null;
    return false;
  }
  if (skip.left <= 0) {
    reading.skip = null;
    return false;
  }
  skip.left -= 1;
  return true;
}
