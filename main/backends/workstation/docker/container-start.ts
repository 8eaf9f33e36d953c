/**
 * Starts a container once. Where the answer to the start was lost with its Engine, the next one does not know whether it began: it is not
 * started again then, as what began may live on and both would be one attempt. It counts as lost, and the task gets a new attempt.
 */
import type { AttemptEntry } from '../process/attempt-entry.js';
import { writeNote } from './attempt-note.js';
import { Again, Over } from './attempt-turns.js';
import type { ContainerContext } from './container-context.js';
import { EngineAbsent, EngineRefusal } from './engine.js';
import { hasForgotten } from './engine-memory.js';
import { endUnseen } from './unseen-processes.js';

export class ContainerStart {
  /** Made by us, and no start of it was asked for. */
  private readonly fresh = new Set<string>();

  constructor(
    private readonly entry: AttemptEntry,
    private readonly context: ContainerContext,
  ) {}

  made(id: string): void {
    this.fresh.add(id);
  }

  /** `before`: the phase that is noted while its container is made anew, as for an Engine without its init program. */
  async start(id: string, before: () => 'asked' | 'prepared'): Promise<void> {
    const { context, entry } = this;
    if (!this.fresh.delete(id) && (await hasForgotten(context.engine, id, ['create'])))
      throw await this.lost(id);
    try {
      await context.engine.ask((docker) => docker.getContainer(id).start());
    } catch (error) {
      if (error instanceof EngineAbsent) this.made(id);
      if (!(error instanceof EngineRefusal)) throw error;
      // It runs already: the answer to an earlier request was lost.
      if (error.status === 304) return;
      if (error.reason.kind === 'RUNS_UNSEEN') throw await this.lost(id);
      if (error.reason.kind !== 'INIT_MISSING' || !context.init()) throw error;
      // An Engine without its init program says so only now.
      context.withoutInit();
      await context.remove(id);
      writeNote(entry.folder, { phase: before(), containerId: null, end: null });
      throw new Again();
    }
  }

  private async lost(id: string): Promise<Over> {
    const left = await endUnseen(id);
    const isHere = this.context.engine.known()?.reach === 'here';
    const remains =
      left.length > 0
        ? ` What it began runs on and could not be ended: end it with sudo kill -KILL ${left.join(' ')}.`
        : isHere
          ? ''
          : ` Should something of it run on there, end it with sudo pkill -KILL -P "$(pgrep -f '[s]him.* -id ${id}')".`;
    const message = `The Docker Engine was restarted while it started the container, and does not know whether its command began.${remains}`;
    return new Over({
      ...{ state: 'WORKER_FAILED', finishedAtMs: this.context.nowMs(), startedAtMs: null, durationMs: null },
      ...{ exitCode: null, signal: null, cause: { code: 'CONTAINER_LOST', message } },
    });
  }
}
