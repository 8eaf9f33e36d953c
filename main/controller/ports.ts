/** Ports for tasks that ask for some, from the original's range; a port stays taken until its attempt is verified gone. */
import type { Attempt } from '../../core/model/entities.js';

const firstPort = 30_000;
const lastPort = 39_999;

/**
 * One port a name, or null when the range is used up. Starts behind the last one given, so that a port just freed, whose
 * connections may linger, is taken again last.
 */
export class PortRange {
  private next = firstPort;

  allot(names: readonly string[], unfinished: Iterable<Attempt>): Record<string, number> | null {
    if (names.length === 0) return {};
    const taken = new Set<number>();
    for (const attempt of unfinished) for (const port of Object.values(attempt.ports)) taken.add(port);
    const result: Record<string, number> = {};
    for (const name of names) {
      const port = this.free(taken);
      if (port === null) return null;
      taken.add(port);
      result[name] = port;
    }
    return result;
  }

  private free(taken: ReadonlySet<number>): number | null {
    const size = lastPort - firstPort + 1;
    for (let step = 0; step < size; step += 1) {
      const port = this.next;
      this.next = port === lastPort ? firstPort : port + 1;
      if (!taken.has(port)) return port;
    }
    return null;
  }
}
