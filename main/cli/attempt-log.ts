/** Reads one attempt's log to its end, in the order it grew, through lost connections, each byte once. */
import type { TopicDelta } from '../../core/contract/api.js';
import { RefusalError } from '../../core/contract/errors.js';
import { bytesBeforeCut, type LogCut } from '../../core/formats/log-cut.js';
import type { Connection } from './connection.js';
import type { HostLink } from './host-link.js';
import type { LogHeard, LogSink } from './task-output.js';

export interface AttemptLogOptions {
  readonly link: HostLink;
  readonly uid: string;
  readonly sink: LogSink;
  /** False: what there is now, then stop. */
  readonly follow: boolean;
  /** Where to begin; null: at the start. */
  readonly from?: { readonly out: number; readonly err: number } | null;
  /** Where there is no `from`: from where the log stood at that time. */
  readonly sinceMs?: number | undefined;
  /** Only this stream is written. */
  readonly only?: 'out' | 'err' | undefined;
  /** Where the log may be cut, as far as is known by then. */
  readonly cut?: () => LogCut | null;
  /** Called at that place, which may be within a line. */
  readonly cutReached?: (withinLine: boolean) => Promise<void>;
  /** True once nobody reads any more: the rest is not fetched. */
  readonly stop?: () => boolean;
  /** Told when what the log is on cannot be asked; true: it is tried again after a while. */
  readonly waits?: (sentence: string) => boolean;
}

const chunkBytes = 512 * 1024;
const lineFeed = 0x0a;
const againAfterMs = 1000;
const nothingHeard: LogHeard = { out: '', err: '' };

export async function followAttemptLog(options: AttemptLogOptions): Promise<void> {
  let cursor = options.from ?? null;
  const read = async (connection: Connection): Promise<void> => {
    let growth: Growth | null = null;
    try {
      for (;;) {
        const seen = growth?.count ?? 0;
        const answer = await connection.call('log.merged', {
          attemptUid: options.uid,
          cursor,
          // An older host knows no such field; it is sent only where it is needed.
          ...(cursor === null && options.sinceMs !== undefined ? { sinceMs: options.sinceMs } : {}),
          maxBytes: chunkBytes,
        });
        for (const chunk of answer.chunks) {
          if (options.only === undefined || chunk.stream === options.only) {
            await writeChunk(options, chunk.stream, chunk.offset, Buffer.from(chunk.dataBase64, 'base64'));
          }
        }
        // Moved only after the bytes are out: a connection lost before this reads them again, and none twice.
        cursor = answer.cursor;
        if (answer.complete || options.stop?.() === true) return;
        if (answer.chunks.length > 0) continue;
        if (!options.follow) return;
        if (growth === null) {
          growth = watchGrowth(connection, options.uid);
          continue;
        }
        await options.sink.heard?.(ofOnly(growth.heard, options.only));
        await growth.beyond(seen);
      }
    } finally {
      growth?.end();
      // Whatever comes next, nobody tells of it any more.
      await options.sink.heard?.(nothingHeard);
    }
  };
  await whileAway(options, () => options.link.persist(read));
  await options.sink.end();
}

/** Does it again after a while for as long as what it is about cannot be asked and that is waited for. Null: nobody reads any more. */
export async function whileAway<T>(
  { waits, stop }: Pick<AttemptLogOptions, 'waits' | 'stop'>,
  act: () => Promise<T>,
): Promise<T | null> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (stop?.() === true) return null;
      const isAway = error instanceof RefusalError && error.refusal.code === 'UNREACHABLE';
      if (!isAway || waits?.(error.message) !== true) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, againAfterMs));
  }
}

async function writeChunk(
  { sink, cut, cutReached }: AttemptLogOptions,
  stream: 'out' | 'err',
  offset: number,
  data: Buffer,
): Promise<void> {
  const before = bytesBeforeCut(cut?.() ?? null, { stream, offset, length: data.length });
  if (before === null) {
    await sink.write(stream, data);
    return;
  }
  if (before > 0) await sink.write(stream, data.subarray(0, before));
  await sink.heard?.(nothingHeard);
  await cutReached?.(before > 0 && data[before - 1] !== lineFeed);
  if (before < data.length) await sink.write(stream, data.subarray(before));
}

function ofOnly(heard: LogHeard, only: AttemptLogOptions['only']): LogHeard {
  return only === undefined ? heard : { ...nothingHeard, [only]: heard[only] };
}

interface Growth {
  /** As it was told last. */
  readonly heard: LogHeard;
  /** How often the log was reported to have grown. */
  readonly count: number;
  /** Resolves once it was reported more often than that; rejects when the subscription ends. */
  beyond(seen: number): Promise<void>;
  end(): void;
}

function watchGrowth(connection: Connection, attemptUid: string): Growth {
  let count = 0;
  let failure: RefusalError | null = null;
  let wake: () => void = () => undefined;
  let heard: LogHeard = nothingHeard;
  const grew = (value: TopicDelta<'log'>) => {
    count += 1;
    heard = value.heard ?? nothingHeard;
    wake();
  };
  const end = connection.subscribe(
    'log',
    { attemptUid },
    {
      snapshot: grew,
      delta: grew,
      ended: (reason) => {
        failure = new RefusalError(reason);
        wake();
      },
    },
  );
  return {
    get count() {
      return count;
    },
    get heard() {
      return heard;
    },
    async beyond(seen) {
      while (count <= seen) {
        if (failure !== null) throw failure;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    end,
  };
}
