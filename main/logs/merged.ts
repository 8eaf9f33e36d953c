/** Both streams of an attempt as one, in the order they grew: exact between marks, out before err within one stretch. */
import type { LogMark, LogRange } from '../backends/backend.js';

export interface MergedReadInput {
  readonly read: (
    stream: 'out' | 'err',
    offset: number,
    maxBytes: number,
    into?: Uint8Array,
  ) => Promise<LogRange>;
  /** Oldest first. */
  readonly marks: readonly LogMark[];
  /** Null: from the start, or about the last `maxBytes` with `tail`. */
  readonly cursor: LogPosition | null;
  readonly tail: boolean;
  /** Without a cursor: from where the log stood at that time; null: not asked for. */
  readonly sinceMs: number | null;
  readonly maxBytes: number;
  /** When the attempt ended, before this call: the sizes are final. Null: it had not. */
  readonly endedAtMs: number | null;
  /** Where the bytes may be put. */
  readonly room?: Uint8Array;
}

export interface LogPosition {
  readonly out: number;
  readonly err: number;
}

export interface MergedChunk {
  stream: 'out' | 'err';
  offset: number;
  data: Uint8Array;
}

export interface MergedRead {
  chunks: MergedChunk[];
  cursor: { out: number; err: number };
  outSize: number;
  errSize: number;
  complete: boolean;
}

/** A line that a mark cuts is given whole when it does not begin further back than this. */
const longestCutLine = 64 * 1024;

interface Piece {
  readonly stream: 'out' | 'err';
  readonly from: number;
  readonly to: number;
}

export async function mergedRead(input: MergedReadInput): Promise<MergedRead> {
  const [out, err] = await Promise.all([input.read('out', 0, 0), input.read('err', 0, 0)]);
  const sizes = { out: out.size, err: err.size };
  const start = input.cursor ?? (await firstPosition(input, sizes));
  // A file that became shorter was not ours to cut; what is beyond its end cannot be read again.
  const cursor = { out: Math.min(start.out, sizes.out), err: Math.min(start.err, sizes.err) };
  const chunks: MergedChunk[] = [];
  let left = input.maxBytes;
  for (const piece of pieces(cursor, sizes, input.marks)) {
    if (left <= 0) break;
    const { data } = await input.read(
      piece.stream,
      piece.from,
      Math.min(left, piece.to - piece.from),
      input.room?.subarray(input.maxBytes - left),
    );
    if (data.length === 0) break;
    chunks.push({ stream: piece.stream, offset: piece.from, data });
    cursor[piece.stream] = piece.from + data.length;
    left -= data.length;
  }
  if (input.cursor === null && input.sinceMs === null && input.tail) await dropCutLine(chunks, input.read);
  return {
    chunks,
    cursor,
    outSize: sizes.out,
    errSize: sizes.err,
    complete: input.endedAtMs !== null && cursor.out >= sizes.out && cursor.err >= sizes.err,
  };
}

async function firstPosition(input: MergedReadInput, sizes: LogPosition): Promise<LogPosition> {
  const { sinceMs, endedAtMs, marks, read, tail, maxBytes } = input;
  if (sinceMs === null) return tail ? tailStart(sizes, marks, maxBytes) : { out: 0, err: 0 };
  if (endedAtMs !== null && endedAtMs < sinceMs) return sizes;
  // What a mark counts was there when it was noted; what came between it and the time asked for cannot be told apart from what
  // came after, so it is given too.
  const before = marks.findLast((mark) => mark.atMs <= sinceMs);
  if (before === undefined) return { out: 0, err: 0 };
  return {
    out: await lineStart(read, 'out', before.out),
    err: await lineStart(read, 'err', before.err),
  };
}

/** Where the line begins that holds the byte before `offset`; `offset` itself when a line ends there or begins too far away. */
async function lineStart(
  read: MergedReadInput['read'],
  stream: 'out' | 'err',
  offset: number,
): Promise<number> {
  const from = Math.max(0, offset - longestCutLine);
  const { data } = await read(stream, from, offset - from);
  const feed = data.lastIndexOf(0x0a);
  return feed === -1 && from > 0 ? offset : from + feed + 1;
}

/** Stretches between marks from a position on; neighbours of one stream are joined. */
function pieces(from: LogPosition, sizes: LogPosition, marks: readonly LogMark[]): Piece[] {
  const result: Piece[] = [];
  const at = { out: from.out, err: from.err };
  const advance = (stream: 'out' | 'err', to: number): void => {
    const end = Math.min(to, sizes[stream]);
    if (end <= at[stream]) return;
    const last = result.at(-1);
    if (last?.stream === stream) result[result.length - 1] = { ...last, to: end };
    else result.push({ stream, from: at[stream], to: end });
    at[stream] = end;
  };
  for (const mark of [...marks, { atMs: 0, ...sizes }]) {
    advance('out', mark.out);
    advance('err', mark.err);
  }
  return result;
}

/** The position about `maxBytes` before the end, along the merged order. */
function tailStart(sizes: LogPosition, marks: readonly LogMark[], maxBytes: number): LogPosition {
  const at = { ...sizes };
  let left = maxBytes;
  for (const piece of pieces({ out: 0, err: 0 }, sizes, marks).reverse()) {
    const length = Math.min(left, piece.to - piece.from);
    at[piece.stream] = piece.to - length;
    left -= length;
    if (left <= 0) break;
  }
  return at;
}

/**
 * A tail begins with a whole line: what is before the end of the line it was cut in is left out, unless that is all there is. Only
 * the first stretch is cut; all others begin at a mark.
 */
async function dropCutLine(chunks: MergedChunk[], read: MergedReadInput['read']): Promise<void> {
  const [first] = chunks;
  if (first === undefined || first.offset === 0) return;
  const before = await read(first.stream, first.offset - 1, 1);
  if (before.data[0] === 0x0a) return;
  const { data } = first;
  const end = data.indexOf(0x0a) + 1;
  if (end === 0) return;
  if (end < data.length) {
    chunks[0] = { stream: first.stream, offset: first.offset + end, data: data.subarray(end) };
  } else if (chunks.length > 1) {
    chunks.shift();
  }
}
