/** The scheduler: the cluster it knows, and the decision about it. A decision follows from the cluster, the time and the rules alone. */
import { Cluster } from './cluster.js';
import type { Decision } from './decision.js';
import type { QueuedJob } from './inputs.js';
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
    const decision = this.pass(nowMs, rules);
    this.last = { version: cluster.version, rules, decision };
    return decision;
  }

  /** What would be decided if that job waited as well, for `look` to look at while it is there; nothing of it stays. */
  trial<Seen>(
    job: QueuedJob,
    tasks: number,
    nowMs: number,
    rules: Rules,
    look: (decision: Decision) => Seen,
  ): Seen {
    const { cluster } = this;
    const { version } = cluster;
    if (cluster.queue.jobs.has(job.id)) throw new Error(`${job.id} waits already: a trial needs another id.`);
    cluster.putJob(job);
    try {
      for (let index = 0; index < tasks; index += 1) cluster.addTask(job.id, index);
      return look(this.pass(nowMs, rules));
    } finally {
      cluster.removeJob(job.id);
      cluster.version = version;
    }
  }

  private pass(nowMs: number, rules: Rules): Decision {
    return rules.policy === 'original'
      ? originalPass(this.memory, nowMs, rules)
      : new Pass(this.memory, nowMs, rules).run();
  }
}
