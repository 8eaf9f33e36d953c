/** Starts a container, again where no answer came. */
import { EngineRefusal, EngineUnreachable } from './engine.js';
import { hasForgotten } from './engine-memory.js';
import { writeNote } from './attempt-note.js';
import { Again, pauseOf, waits } from './attempt-turns.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import type { ContainerContext } from './container-context.js';

export class ContainerStart {
  /** The container whose start was asked for without an answer. */
  private unanswered: string | null = null;

  constructor(
    private readonly entry: AttemptEntry,
    private readonly context: ContainerContext,
  ) {}

  /** `before`: the phase that is noted while its container is made anew, as for an Engine without its init program. */
  async start(id: string, before: () => 'asked' | 'prepared'): Promise<void> {
    const { context, entry } = this;
    // Asked before it is: it remembers this start from then on.
    const again = this.unanswered === id && (await hasForgotten(context.engine, id, ['create']));
    try {
      await this.ask(id);
    } catch (error) {
      if (error instanceof EngineUnreachable) this.unanswered = id;
      if (!(error instanceof EngineRefusal)) throw error;
      // It runs already: the answer to an earlier request was lost.
      if (error.status === 304) return;
      if (error.reason.kind !== 'INIT_MISSING' || !context.init()) throw error;
      // An Engine without its init program says so only now.
      context.withoutInit();
      await context.remove(id);
      writeNote(entry.folder, { phase: before(), containerId: null, end: null });
      throw new Again();
    }
    if (!again) return;
    const message =
      'The Docker Engine was restarted while it started the container, and has started it once more: the command may have begun twice, one after the other.';
    context.reporter.warn(entry, { code: 'BEGUN_TWICE', message });
  }

  /** One that runs on unseen is waited for a moment; then it is said how to end it, which an Engine of that age cannot. */
  private async ask(id: string): Promise<void> {
    const { engine, monotonicMs } = this.context;
    const untilMs = monotonicMs() + waits.unseenMs;
    for (;;) {
      try {
        await engine.ask((docker) => docker.getContainer(id).start());
        return;
      } catch (error) {
        if (!(error instanceof EngineRefusal) || error.reason.kind !== 'RUNS_UNSEEN') throw error;
        if (monotonicMs() < untilMs) {
          await pauseOf(waits.refusalPauseMs);
          continue;
        }
        const how = `End it on the machine with sudo pkill -KILL -P "$(pgrep -f '[s]him.* -id ${id}')".`;
        const advice = [error.reason.advice, how].filter((each) => each !== null).join(' ');
        throw new EngineRefusal(error.status, { ...error.reason, advice });
      }
    }
  }
}
