/** Streams an attempt's log from the controller to a file, a piece at a time; what was there before is replaced only when all is written. */
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { LogStreamChoice } from '../../core/contract/desktop-bridge.js';
import type { ShellClient } from './shell-client.js';

/** Its text is made in the main thread: small objects for the engine, gone soon. */
const pieceBytes = 96 * 1024;

/** File systems take 255 bytes, some a little less. */
const mostNameBytes = 240;

/** A name without folders and characters that some file system refuses, and no longer than they take. */
export function safeFileName(suggested: string): string {
  const name = basename(suggested.replace(/\\/g, '/'))
    .replace(/[\p{Cc}<>:"|?*]/gu, '-')
    .replace(/^\.+/, '')
    .trim();
  return name === '' ? 'log.txt' : shortened(name);
}

/** Cut before its ending, between characters. */
function shortened(name: string): string {
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? '';
  const points = Array.from(name.slice(0, name.length - ending.length));
  while (Buffer.byteLength(points.join('') + ending) > mostNameBytes) points.pop();
  return points.join('') + ending;
}

let saves = 0;

/** Ends at the size the log had at the first answer, so that a log that keeps growing can be saved too. */
export async function saveLog(
  client: Pick<ShellClient, 'call'>,
  attemptUid: string,
  stream: LogStreamChoice,
  path: string,
): Promise<void> {
  // A name of its own: neither a file of the user's nor another save to the same place is in its way.
  const fresh = join(dirname(path), `.iris-log-${process.pid}-${Date.now()}-${(saves += 1)}.part`);
  const notSaved = (error: unknown): Error => {
    const reason = error instanceof Error ? error.message : String(error);
    return new Error(`The log was not saved to ${path}: ${reason}`, { cause: error });
  };
  const file = await open(fresh, 'wx', 0o600).catch((error: unknown) => {
    throw notSaved(error);
  });
  try {
    const pieces =
      stream === 'merged' ? mergedPieces(client, attemptUid) : streamPieces(client, attemptUid, stream);
    for await (const piece of pieces) {
      // Not write(): on a full disk that may write a part and say so only in its result.
      await file.writeFile(piece);
    }
    await file.sync();
    await file.close();
    await rename(fresh, path);
  } catch (error) {
    await file.close().catch(() => undefined); // closed already when the rename failed
    await rm(fresh, { force: true });
    throw notSaved(error);
  }
}

async function* streamPieces(
  client: Pick<ShellClient, 'call'>,
  attemptUid: string,
  stream: 'out' | 'err',
): AsyncGenerator<Uint8Array> {
  let offset = 0;
  let end: number | null = null;
  while (end === null || offset < end) {
    const maxBytes: number = end === null ? pieceBytes : Math.min(pieceBytes, end - offset);
    const answer = await client.call('log.read', { attemptUid, stream, offset, maxBytes });
    end ??= answer.size;
    const data = Buffer.from(answer.dataBase64, 'base64');
    if (data.length === 0) {
      if (offset < end) throw new Error(`the log ends at ${offset} bytes, before the ${end} it had`);
      return;
    }
    offset += data.length;
    yield data;
  }
}

async function* mergedPieces(
  client: Pick<ShellClient, 'call'>,
  attemptUid: string,
): AsyncGenerator<Uint8Array> {
  let cursor: { out: number; err: number } | null = null;
  let end: { out: number; err: number } | null = null;
  for (;;) {
    const answer: Awaited<ReturnType<typeof client.call<'log.merged'>>> = await client.call('log.merged', {
      attemptUid,
      cursor,
      maxBytes: pieceBytes,
    });
    end ??= { out: answer.outSize, err: answer.errSize };
    for (const chunk of answer.chunks) yield Buffer.from(chunk.dataBase64, 'base64');
    cursor = answer.cursor;
    if (answer.complete || (cursor.out >= end.out && cursor.err >= end.err)) return;
    if (answer.chunks.length === 0) {
      throw new Error(
        `the log ends at ${cursor.out + cursor.err} bytes, before the ${end.out + end.err} it had`,
      );
    }
  }
}
