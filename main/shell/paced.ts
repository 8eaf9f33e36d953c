/** Runs something at once when asked, and again only after a pause however often it is asked meanwhile. */
interface Paced {
  readonly run: () => void;
  readonly stop: () => void;
}

export function createPaced(
  run: () => void,
  gapMs: number,
  setTimer: (run: () => void, ms: number) => () => void,
): Paced {
  let cancelGap: (() => void) | null = null;
  let asked = false;
  let stopped = false;

  function begin(): void {
    asked = false;
    run();
    cancelGap = setTimer(() => {
      cancelGap = null;
      if (asked) begin();
    }, gapMs);
  }

  return {
    run() {
      if (stopped) return;
      if (cancelGap === null) begin();
      else asked = true;
    },
    stop() {
      stopped = true;
      cancelGap?.();
      cancelGap = null;
    },
  };
}
