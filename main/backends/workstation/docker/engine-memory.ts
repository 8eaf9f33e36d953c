/**
 * What the Engine that answers now remembers of one container. One that was started anew remembers nothing of what came before, and of a
 * container it knows what was on disk alone: it says 255 of one whose end it did not see, or saw and had not yet written down, and takes
 * one whose start was under way for one that was never started.
 */
import type { ContainerView } from '../../../../core/formats/docker/inspect.js';
import type { Watched } from './container-hub.js';
import { EngineSilent, EngineUnreachable, type Engine } from './engine.js';
import { eventsRemembered } from './engine-restart.js';

/** Of one whose end nobody saw, or that was ended by force, as by an Engine that ends in order. */
const unclear = new Set([137, 143, 255]);
const unseen = 255;

/**
 * As it ended: what was heard of its end counts more than what an Engine that was started since makes of it. Where nothing was heard, as
 * while we did not run, it is noted whether the Engine knows of its life. Rejects with EngineUnreachable.
 */
export async function asItEnded(engine: Engine, view: ContainerView, seen: Watched): Promise<ContainerView> {
  const { died } = seen;
  if (view.exitCode === null || !unclear.has(view.exitCode) || view.outOfMemory || seen.outOfMemory)
    return view;
  if (died !== null) {
    if (view.exitCode !== unseen || died.exitCode === null) return view;
    return { ...view, exitCode: died.exitCode, finishedAtMs: died.atMs };
  }
  if (seen.lostAtMs === null) seen.forgotten = await hasForgotten(engine, view.id, ['start', 'die']);
  return view;
}

/** Whether it surely has seen nothing of this happen to the container. Rejects with EngineUnreachable. */
export async function hasForgotten(
  engine: Engine,
  container: string,
  actions: readonly string[],
): Promise<boolean> {
  try {
    // All of it: only then is it known whether it may have remembered more.
    const events = await eventsRemembered(engine, 1);
    return (
      events !== 'unknowable' &&
      !events.some(({ id, action }) => id === container && actions.includes(action))
    );
  } catch (error) {
    if (error instanceof EngineUnreachable && !(error instanceof EngineSilent)) throw error;
    return false; // it does not say, as through a proxy that lets only some questions pass
  }
}
