/** Ordered start-up: named steps, each with a disposer; shutdown runs them backwards under a deadline. */

export type Disposer = () => void | Promise<void>;

/** What a step made, and how to undo it. */
export interface Started<T> {
  readonly value: T;
  readonly dispose?: Disposer;
}

export interface Lifecycle {
  /** Runs one step now. A step that throws is not undone: it must leave nothing behind when it fails. */
  step<T>(name: string, start: () => Started<T> | Promise<Started<T>>): Promise<T>;
  /**
   * Undoes all steps, last first, each waited for; what is not done by the deadline is left and named in the answer.
   * Repeats give the first call's answer.
   */
  stop(deadlineMs: number): Promise<readonly string[]>;
}

export function createLifecycle(log: (line: string) => void, now: () => number = Date.now): Lifecycle {
  const undo: { readonly name: string; readonly dispose: Disposer }[] = [];
  let stopping: Promise<readonly string[]> | undefined;

  async function runBackwards(deadlineMs: number): Promise<readonly string[]> {
    const endsAt = now() + deadlineMs;
    const unfinished: string[] = [];
    for (;;) {
      const entry = undo.pop();
      if (entry === undefined) return unfinished;
      const finished = await finishesBy(entry.dispose, Math.max(0, endsAt - now()), (error) =>
        log(`Stopping ${entry.name} failed: ${describe(error)}`),
      );
      if (!finished) {
        unfinished.push(entry.name);
        log(`Stopping ${entry.name} did not end within the ${deadlineMs} ms for all.`);
      }
    }
  }

  return {
    async step(name, start) {
      if (stopping !== undefined) throw new Error(`The step ${name} came after shutdown began.`);
      const started = await start();
      if (started.dispose !== undefined) undo.push({ name, dispose: started.dispose });
      return started.value;
    },
    stop(deadlineMs) {
      stopping ??= runBackwards(deadlineMs);
      return stopping;
    },
  };
}

/** True when the disposer ended (well or not) in time; it is always called, even with no time left. */
async function finishesBy(dispose: Disposer, ms: number, failed: (error: unknown) => void): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = (async () => {
    try {
      await dispose();
    } catch (error) {
      failed(error);
    }
    return true as const;
  })();
  const result = await Promise.race([done, late]);
  clearTimeout(timer);
  return result;
}

/** Text of anything thrown, with its stack where it has one. */
export function describe(error: unknown): string {
  if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`;
  return String(error);
}
