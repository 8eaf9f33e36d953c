/** A process named for good, in the text form that is stored and compared. */
import { createProcessView } from './processes.js';

export interface OwnIdentity {
  readonly bootId: string;
  readonly pid: number;
  /** Clock ticks since boot, or the wall time of the start where the system does not tell. */
  readonly startTime: string;
}

export function ownProcess(): OwnIdentity {
  const view = createProcessView();
  const entry = view.read(process.pid);
  return {
    bootId: view.bootId() ?? 'unknown',
    pid: process.pid,
    startTime:
      entry === null ? String(Math.round(Date.now() - process.uptime() * 1000)) : String(entry.startTicks),
  };
}
