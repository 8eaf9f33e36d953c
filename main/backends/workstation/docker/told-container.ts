/**
 * Sends a container the signal of its stop once, whoever is restarted meanwhile: a program may take a second one for impatience, and quit
 * without what the first made it begin to save.
 *
 * That it is about to be sent is noted before, as the answer to the request may never come: whoever finds no more than that asks the Engine
 * whether it did send it. Where the Engine does not know, it is sent again: a task that was never told would spend its whole grace
 * unknowing and then be killed, which costs every program that saves its work, not only those that count signals.
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { LinkLog } from '../process/launcher-link.js';
import { messageOf } from '../process/error-code.js';
import { writeWhole } from './attempt-note.js';
import type { ContainerContext } from './container-context.js';
import { EngineUnreachable, type Engine } from './engine.js';
import { eventsRemembered } from './engine-restart.js';

const noteSchema = z.object({
  container: z.string(),
  signal: z.string(),
  /** Seconds by the Engine's clock, not after the request. */
  since: z.number(),
  /** The Engine has said that it is done. */
  sent: z.boolean(),
});
type ToldNote = z.infer<typeof noteSchema>;

/** What its clock is thought to be may be a little off. */
const marginMs = 2000;

const noteFile = (folder: string): string => path.join(folder, 'sent.json');

/** Rejects with EngineUnreachable or EngineRefusal; then it may be called again. */
export async function tellContainer(
  { engine, log, nowMs, clockSkewMs }: Pick<ContainerContext, 'engine' | 'log' | 'nowMs' | 'clockSkewMs'>,
  folder: string,
  container: string,
  signal: string,
): Promise<void> {
  const before = readNote(folder);
  const isSame = before?.container === container && before.signal === signal;
  if (isSame && (before.sent || (await wasSent(engine, before)))) {
    if (!before.sent) note(folder, { ...before, sent: true }, log);
    return;
  }
  const since = Math.floor((nowMs() + clockSkewMs() - marginMs) / 1000);
  note(folder, { container, signal, since, sent: false }, log);
  await engine.ask((docker) => docker.getContainer(container).kill({ signal }));
  note(folder, { container, signal, since, sent: true }, log);
}

async function wasSent(engine: Engine, { container, signal, since }: ToldNote): Promise<boolean> {
  const filters = { type: ['container'], event: ['kill'], container: [container] };
  const number = new Map<string, number>(Object.entries(os.constants.signals)).get(signal);
  try {
    const events = await eventsRemembered(engine, since, filters);
    if (events === 'unknowable') return false;
    return events.some((event) => event.id === container && event.signal === number);
  } catch (error) {
    if (error instanceof EngineUnreachable) throw error;
    return false; // it does not say, as through a proxy that lets only some questions pass
  }
}

function readNote(folder: string): ToldNote | null {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(noteFile(folder), 'utf8')));
  } catch {
    return null; // none, or one that nothing can be known from
  }
}

function note(folder: string, told: ToldNote, log: LinkLog): void {
  try {
    writeWhole(noteFile(folder), JSON.stringify(told));
  } catch (error) {
    // A full disk keeps no stop.
    log.warn('That a stop sends its signal could not be noted', { folder, error: messageOf(error) });
  }
}
