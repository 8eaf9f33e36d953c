/** The Engine's event stream, as far as it tells how containers end. */
import { z } from 'zod';

const eventSchema = z.object({
  Type: z.string(),
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).nullish() }),
  timeNano: z.number().optional(),
  time: z.number().optional(),
});

export interface ContainerEvent {
  readonly action: string;
  readonly id: string;
  readonly name: string;
  /** Of `die`. */
  readonly exitCode: number | null;
  /** Number of the signal, of `kill`. */
  readonly signal: number | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly atMs: number | null;
}

/** Null: of something other than a container. */
export function readEvent(value: unknown): ContainerEvent | null {
  const parsed = eventSchema.safeParse(value);
  if (!parsed.success || parsed.data.Type !== 'container') return null;
  const { Action: action, Actor: actor, timeNano, time } = parsed.data;
  const attributes = actor.Attributes ?? {};
  const whole = (name: string): number | null => {
    const found = attributes[name];
    return found !== undefined && /^\d+$/.test(found) ? Number(found) : null;
  };
  return {
    action,
    id: actor.ID,
    name: attributes['name'] ?? '',
    exitCode: action === 'die' ? whole('exitCode') : null,
    signal: action === 'kill' ? whole('signal') : null,
    labels: attributes,
    atMs: timeNano === undefined ? (time === undefined ? null : time * 1000) : Math.floor(timeNano / 1e6),
  };
}

export interface ContainerEnd {
  readonly exitCode: number | null;
  /** Numbers of the signals the Engine was asked to send, in order. */
  readonly signals: readonly number[];
  /** Somebody asked the Engine to stop it. */
  readonly stopped: boolean;
  /** The kernel said so, by an event of its own: an exit code of 137 alone proves nothing. */
  readonly outOfMemory: boolean;
}

/** How one container ended, from its events. Null: it has not. */
export function readEnd(events: readonly ContainerEvent[]): ContainerEnd | null {
  const die = events.find(({ action }) => action === 'die');
  if (die === undefined) return null;
  return {
    exitCode: die.exitCode,
    signals: events.flatMap(({ signal }) => (signal === null ? [] : [signal])),
    stopped: events.some(({ action }) => action === 'kill' || action === 'stop'),
    outOfMemory: events.some(({ action }) => action === 'oom'),
  };
}
