/** The scheduler: the cluster it knows, and the decision about it. A decision follows from the cluster, the time and the rules alone. */
import { Cluster } from './cluster.js';
import type { Decision } from './decision.js';
import { originalPass } from './original/pass.js';
import { PassMemory } from './pass-memory.js';
import { Pass } from './pass.js';
import type { Rules } from './rules.js';

export class Scheduler {
  readonly cluster = new Cluster();
  private readonly memory = new PassMemory(this.cluster);
  private last: { readonly version: number; readonly rules: Rules; readonly decision: Decision } | null =
    null;

  /** Decides nothing twice: while no row has changed and no time has come that changes anything, the last decision stands. */
  decide(nowMs: number, rules: Rules): Decision {
    const { last, cluster } = this;
    if (last?.version === cluster.version && last.rules === rules) {
      const { wakeAtMs } = last.decision;
      if (wakeAtMs === null || nowMs < wakeAtMs) return last.decision;
    }
    const decision =
      rules.policy === 'original'
        ? originalPass(this.memory, nowMs, rules)
        : new Pass(this.memory, nowMs, rules).run();
    this.last = { version: cluster.version, rules, decision };
    return decision;
  }
}
