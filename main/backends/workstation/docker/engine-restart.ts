/**
 * Whether an Engine was started anew under containers that went on (`--live-restore`). It does not say so, but what it remembers does:
 * its last 256 events are kept in memory alone. What it had read from a container and not written to its log is gone then.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readEvent } from '../../../../core/formats/docker/events.js';
import { engineCutCode, engineCutMessage } from '../../../../core/formats/log-cut.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import type { Reporter } from '../process/reporter.js';
import type { EngineLoss } from './container-hub.js';
import type { Engine } from './engine.js';

/** One that remembers as many may have forgotten a start it saw. */
const fullMemory = 200;
const answerMs = 10_000;
const clockSchema = z.looseObject({ SystemTime: z.string() });

/**
 * The containers the Engine that answers now remembers to have started: another that runs was started by one before it. Null: that
 * cannot be told.
 */
export async function startsRemembered(engine: Engine): Promise<ReadonlySet<string> | null> {
  try {
    const info: unknown = await engine.ask((docker) => docker.info());
    // By its own clock, so that it answers at once.
    const until = Math.floor(Date.parse(clockSchema.parse(info).SystemTime) / 1000);
    const query = { since: 1, until, abortSignal: AbortSignal.timeout(answerMs) };
    const stream = await engine.ask((docker) => docker.getEvents(query));
    let text = '';
    for await (const piece of stream) text += String(piece);
    const rows = text.split('\n').filter((row) => row.trim() !== '');
    if (rows.length >= fullMemory) return null;
    const events = rows.map((row) => readEvent(JSON.parse(row)));
    return new Set(events.flatMap((event) => (event?.action === 'start' ? [event.id] : [])));
  } catch {
    return null; // lost again, which is noticed by itself, or not an Engine that answers so
  }
}

/** Warns of an attempt whose log may be cut that way, where it stood when the Engine was lost. */
export function warnOfRestart(entry: AttemptEntry, reporter: Reporter): EngineLoss {
  const place = { out: 0, err: 0 };
  return {
    lost: () => {
      for (const stream of ['out', 'err'] as const) {
        const file = statSync(path.join(entry.folder, stream), { throwIfNoEntry: false });
        place[stream] = file?.size ?? 0;
      }
    },
    restarted: () => {
      if (!entry.warnings.has(engineCutCode))
        reporter.warn(entry, { code: engineCutCode, message: engineCutMessage(place) });
    },
  };
}
