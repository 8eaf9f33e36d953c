/**
 * Whether an Engine was started anew under containers that went on (`--live-restore`). It does not say so, but what it remembers does:
 * its last 256 events are kept in memory alone. What it had read from a container and not written to its log is gone then.
 */
import path from 'node:path';
import { z } from 'zod';
import { readEvent, type ContainerEvent } from '../../../../core/formats/docker/events.js';
import { engineCutCode, engineCutMessage } from '../../../../core/formats/log-cut.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import { messageOf } from '../process/error-code.js';
import { sizeOf } from '../process/log-storage.js';
import type { Reporter } from '../process/reporter.js';
import type { EngineLoss } from './container-hub.js';
import { brokenOff, type Engine } from './engine.js';

/** One that remembers as many may have forgotten a start it saw. */
const fullMemory = 200;
const fullBytes = 1024 ** 2;
const answerMs = 10_000;
const infoSchema = z.looseObject({
  SystemTime: z.string().catch(''),
  /** Podman's alone: what it remembers outlives it, or is nothing. */
  BuildahVersion: z.unknown().optional(),
});

/**
 * What the Engine that answers now remembers to have happened to containers from then on, in seconds by its clock. `unknowable`: it
 * cannot tell, now or later. Rejects when there is no answer this time, with EngineUnreachable when it was lost.
 */
export async function eventsRemembered(
  engine: Engine,
  since: number,
  filters: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly ContainerEvent[] | 'unknowable'> {
  const told: unknown = await engine.ask((docker) => docker.info());
  const info = infoSchema.parse(told);
  // By its own clock, so that it answers at once, and with what began in this second.
  const until = Math.floor(Date.parse(info.SystemTime) / 1000) + 1;
  if (info.BuildahVersion !== undefined || Number.isNaN(until)) return 'unknowable';
  const abortSignal = AbortSignal.timeout(answerMs);
  const query = { since, until, filters: JSON.stringify(filters), abortSignal };
  const stream = await engine.ask((docker) => docker.getEvents(query));
  const rows = await rowsOf(stream).catch((error: unknown) => {
    throw abortSignal.aborted ? error : brokenOff(messageOf(error));
  });
  return rows === null ? 'unknowable' : rows.flatMap((row) => readEvent(JSON.parse(row)) ?? []);
}

/**
 * The containers the Engine that answers now remembers to have started: another that runs was started by one before it. Null: there was
 * no answer this time.
 */
export async function startsRemembered(engine: Engine): Promise<ReadonlySet<string> | 'unknowable' | null> {
  try {
    const events = await eventsRemembered(engine, 1);
    if (events === 'unknowable') return events;
    return new Set(events.flatMap(({ action, id }) => (action === 'start' ? [id] : [])));
  } catch {
    return null; // lost again, which is noticed by itself, or slow
  }
}

/** Null: there are more than are surely all. What is read no further is hung up on. */
async function rowsOf(stream: NodeJS.ReadableStream): Promise<readonly string[] | null> {
  const rows: string[] = [];
  let bytes = 0;
  let rest = '';
  for await (const piece of stream) {
    const text = String(piece);
    bytes += Buffer.byteLength(text);
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    rows.push(...parts.filter((row) => row.trim() !== ''));
    if (rows.length >= fullMemory || bytes > fullBytes) return null;
  }
  if (rest.trim() !== '') rows.push(rest);
  return rows.length >= fullMemory ? null : rows;
}

/** Warns of an attempt whose log may be cut that way, where it stood when the Engine was lost. */
export function warnOfRestart(entry: AttemptEntry, reporter: Reporter): EngineLoss {
  const place = { out: 0, err: 0 };
  return {
    lost: () => {
      for (const stream of ['out', 'err'] as const) place[stream] = sizeOf(path.join(entry.folder, stream));
    },
    restarted: () => {
      if (!entry.warnings.has(engineCutCode))
        reporter.warn(entry, { code: engineCutCode, message: engineCutMessage(place) });
    },
  };
}
