/** Ports for tasks that ask for some, from the original's range; a port stays taken until its attempt is verified gone. */
import type { Attempt } from '../../core/model/entities.js';

const firstPort = 30_000;
const lastPort = 39_999;

/**
 * One port a name and task, or null when there are not so many free: then none is given. Starts behind the last one given, so that a
 * port just freed, whose connections may linger, is taken again last.
 */
export class PortRange {
  private next = firstPort;

  allot(
    names: readonly string[],
    tasks: number,
    unfinished: Iterable<Attempt>,
  ): readonly Readonly<Record<string, number>>[] | null {
    const taken = new Set<number>();
    for (const attempt of unfinished) for (const port of Object.values(attempt.ports)) taken.add(port);
    const all: Record<string, number>[] = [];
    for (let task = 0; task < tasks; task += 1) {
      const own: Record<string, number> = {};
      for (const name of names) {
        const port = this.free(taken);
        if (port === null) return null;
        taken.add(port);
        own[name] = port;
      }
      all.push(own);
    }
    return all;
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
