/** The last lines of a log, with bounded reading where the end is enough. */
import type { HostLink } from './host-link.js';

export interface Piece {
  readonly stream: 'out' | 'err';
  readonly data: Buffer;
}

export interface LogTail {
  readonly pieces: readonly Piece[];
  /** Where both streams stand after the tail. */
  readonly cursor: { readonly out: number; readonly err: number };
}

const maxReadBytes = 1_048_576;
const lineFeed = 0x0a;

/** The last `lines` lines of both streams in the order they grew, or of one stream. */
export async function readTail(
  link: HostLink,
  uid: string,
  lines: number,
  only: 'out' | 'err' | undefined,
): Promise<LogTail> {
  const end = await read(link, uid, null, true);
  const near = collect(end.pieces, lines, only);
  // A window that begins inside the log may begin inside a line, so one line more than asked for must be in it.
  const isWhole = end.startsAtZero;
  if (isWhole || near.lines > lines) return { pieces: near.pieces, cursor: end.cursor };
  return await readFromStart(link, uid, lines, only);
}

/** Long lines or an interleaving that the last window does not hold: the whole log is read, the last lines are kept. */
async function readFromStart(
  link: HostLink,
  uid: string,
  lines: number,
  only: 'out' | 'err' | undefined,
): Promise<LogTail> {
  let cursor: { out: number; err: number } | null = null;
  let kept: readonly Piece[] = [];
  for (;;) {
    const next = await read(link, uid, cursor, false);
    cursor = next.cursor;
    kept = collect([...kept, ...next.pieces], lines, only).pieces;
    if (next.pieces.length === 0) return { pieces: kept, cursor };
  }
}

async function read(link: HostLink, uid: string, cursor: { out: number; err: number } | null, tail: boolean) {
  const answer = await link.persist((connection) =>
    connection.call('log.merged', { attemptUid: uid, cursor, tail, maxBytes: maxReadBytes }),
  );
  const firsts = new Map<'out' | 'err', number>();
  for (const chunk of answer.chunks) if (!firsts.has(chunk.stream)) firsts.set(chunk.stream, chunk.offset);
  return {
    pieces: answer.chunks.map((chunk) => ({
      stream: chunk.stream,
      data: Buffer.from(chunk.dataBase64, 'base64'),
    })),
    cursor: answer.cursor,
    startsAtZero:
      (firsts.get('out') ?? answer.cursor.out) === 0 && (firsts.get('err') ?? answer.cursor.err) === 0,
  };
}

/** Cuts pieces down to their last lines; an unfinished last line of a stream counts as one. */
export function collect(
  pieces: readonly Piece[],
  lines: number,
  only: 'out' | 'err' | undefined,
): { pieces: Piece[]; lines: number } {
  const wanted = only === undefined ? pieces : pieces.filter((piece) => piece.stream === only);
  if (lines === 0) return { pieces: [], lines: Number.POSITIVE_INFINITY };
  let left = lines;
  let total = 0;
  const openEnd = new Set<'out' | 'err'>();
  const kept: Piece[] = [];
  let full = false;
  for (const piece of [...wanted].reverse()) {
    let start = piece.data.length;
    // The end of a stream's last piece may be a line that goes on.
    if (!openEnd.has(piece.stream)) {
      openEnd.add(piece.stream);
      if (piece.data.length > 0 && piece.data[piece.data.length - 1] !== lineFeed) {
        total += 1;
        if (!full) left -= 1;
      }
    }
    let cutAt: number | null = null;
    for (;;) {
      const feed = start === 0 ? -1 : piece.data.lastIndexOf(lineFeed, start - 1);
      if (feed < 0) break;
      total += 1;
      if (!full) {
        if (left === 0) {
          full = true;
          cutAt = feed + 1;
        } else {
          left -= 1;
        }
      }
      start = feed;
    }
    if (cutAt !== null) {
      if (cutAt < piece.data.length) kept.unshift({ stream: piece.stream, data: piece.data.subarray(cutAt) });
      continue;
    }
    if (!full && piece.data.length > 0) kept.unshift(piece);
  }
  return { pieces: kept, lines: total };
}
