/** Ends a container: the signal, its grace, then by force, until the Engine says that it has ended. */
import type { ContainerView } from '../../../../core/formats/docker/inspect.js';
import type { ContainerContext } from './container-context.js';
import { pauseOf, waits } from './attempt-turns.js';
import { EngineRefusal } from './engine.js';
import { tellContainer } from './told-container.js';

export interface EndOrder {
  readonly signal: string;
  readonly graceMs: number;
  /** By the monotonic clock; may be brought forward. */
  readonly deadlineMs: number;
  /** Those that were sent. */
  readonly signals: Set<string>;
}

export function orderNow(nowMs: number, signal: string, graceMs: number): EndOrder {
  return { signal, graceMs, deadlineMs: nowMs + graceMs, signals: new Set() };
}

/** A disk that hangs, or a machine that does not answer, keeps a stop no longer. */
const mostNoticeMs = 2000;

/** Until the notice of a stop can be found by what it is for: the signal comes after it. */
export async function inGrace(written: void | Promise<void>, graceMs: number): Promise<void> {
  if (written !== undefined) await Promise.race([written, pauseOf(Math.min(mostNoticeMs, graceMs))]);
}

/** In steps of this, as the deadline may be brought forward. */
const stepMs = 200;
const againAfterMs = 1000;

type EndContext = Pick<ContainerContext, 'engine' | 'hub' | 'log' | 'monotonicMs' | 'nowMs' | 'clockSkewMs'>;

/** `folder`: the attempt's, for what whoever comes after a restart must know. */
export async function endContainer(
  context: EndContext,
  folder: string,
  id: string,
  order: EndOrder,
  isRunning: () => boolean,
): Promise<void> {
  const { engine, hub, monotonicMs } = context;
  const asked = order.deadlineMs;
  /** It could not be told for so long: that is none of its grace, unless it is to end sooner by now. */
  let untoldMs = 0;
  const deadlineMs = () => order.deadlineMs + (order.deadlineMs < asked ? 0 : untoldMs);
  const until = async (deadline: () => number): Promise<void> => {
    while (isRunning()) {
      const leftMs = deadline() - monotonicMs();
      if (leftMs <= 0) return;
      await pauseOf(Math.min(leftMs, stepMs));
    }
  };
  /** False: the Engine did not answer. */
  const send = async (signal: string): Promise<boolean> => {
    try {
      if (signal === 'SIGKILL') await engine.ask((docker) => docker.getContainer(id).kill({ signal }));
      else await tellContainer(context, folder, id, signal);
      order.signals.add(signal);
    } catch (error) {
      if (!(error instanceof EngineRefusal)) return false;
      hub.list();
    }
    return true;
  };
  if (order.graceMs > 0) {
    while (isRunning() && deadlineMs() > monotonicMs()) {
      const askedMs = monotonicMs();
      if (await send(order.signal)) break;
      await pauseOf(waits.againPauseMs);
      await engine.ready(waits.laterMs);
      untoldMs += monotonicMs() - askedMs;
    }
    await until(deadlineMs);
  }
  while (isRunning()) {
    if (!(await send('SIGKILL'))) await engine.ready(waits.laterMs);
    const againAtMs = monotonicMs() + againAfterMs;
    await until(() => againAtMs);
  }
}

type Look = () => Promise<ContainerView | null>;
const lookAgainMs = 1000;

/** As it ended. What somebody started anew after that is no part of its attempt, which runs once: it is ended. */
export async function lookAtEnd(
  { engine }: Pick<ContainerContext, 'engine'>,
  id: string,
  look: Look,
): Promise<ContainerView | null> {
  for (;;) {
    const view = await look();
    if (view === null || !view.running) return view;
    try {
      await engine.ask((docker) => docker.getContainer(id).kill({ signal: 'SIGKILL' }));
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
    }
    await pauseOf(stepMs);
  }
}

/** Whoever takes what is left of its log would wait for the end of what is started anew meanwhile. */
export async function keepEnded<T>(
  context: Pick<ContainerContext, 'engine'>,
  id: string,
  look: Look,
  work: Promise<T>,
): Promise<T> {
  let isOver = false;
  const watch = async (): Promise<void> => {
    for (;;) {
      await pauseOf(lookAgainMs);
      if (isOver) return;
      // What cannot be asked now can be later, or is noticed by the work as well.
      await lookAtEnd(context, id, look).catch(() => undefined);
    }
  };
  void watch();
  return work.finally(() => {
    isOver = true;
  });
}
