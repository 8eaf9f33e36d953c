/** Asks a controller now and then whether it still answers: one that hangs keeps its connections and says nothing on them. */

/** A question on a connection of its own, which is closed by whoever asked: it may never be answered. */
export interface Asked<T> {
  readonly answer: Promise<T>;
  close(): void;
}

/** How often a question that has no answer is met before whoever was asked counts as silent. */
const mostMet = 2;

/** `silent` is called once, with the question that is still open, which is then the caller's. Returns what ends the asking. */
export function watchSilence<T>(
  ask: () => Asked<T>,
  everyMs: number,
  silent: (open: Asked<T>) => void,
): () => void {
  let open: Asked<T> | null = null;
  let met = 0;
  const timer = setInterval(() => {
    if (open === null) {
      const asked = ask();
      open = asked;
      met = 0;
      void asked.answer.then(() => {
        asked.close();
        if (open === asked) open = null;
      });
      return;
    }
    met += 1;
    // Not at the first time: where this process itself stood still, the answer has come and is not read yet.
    if (met < mostMet) return;
    clearInterval(timer);
    const asked = open;
    open = null;
    silent(asked);
  }, everyMs);
  return () => {
    clearInterval(timer);
    open?.close();
    open = null;
  };
}
