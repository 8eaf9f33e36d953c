/**
 * What changed by itself, drawn with one of the next frames: a few at a time, so that many changes at once are no long frame, and nothing
 * while the lines fly by. Nobody reads a line then; it leaves after a moment, and the one that comes in its place is drawn as it is.
 */

export interface LateDraws<Item> {
  add(item: Item): void;
  /** It was drawn by other means, or is no longer there. */
  drop(item: Item): void;
  /** The list was moved by so many lines at once. */
  moved(lines: number): void;
  stop(): void;
}

/** Drawn in one frame: at least so many, and so many that all are drawn within so many frames. */
const patches = { leastAFrame: 4, frames: 4 };
/** Lines at once that cannot be read, how long after such a move they still fly, and how long a change waits at most. */
const flight = { lines: 2, restMs: 100, longestMs: 400 };

export function createLateDraws<Item>(draw: (item: Item) => void): LateDraws<Item> {
  const changed = new Set<Item>();
  let aFrame = 0;
  let frame: number | null = null;
  let waitingSinceMs = 0;
  let flyingUntilMs = Number.NEGATIVE_INFINITY;

  function drawSome(): void {
    const nowMs = performance.now();
    if (nowMs < flyingUntilMs && nowMs - waitingSinceMs < flight.longestMs) {
      frame = requestAnimationFrame(drawSome);
      return;
    }
    let left = aFrame;
    for (const item of changed) {
      changed.delete(item);
      draw(item);
      left -= 1;
      if (left === 0) break;
    }
    if (changed.size === 0) aFrame = 0;
    frame = changed.size === 0 ? null : requestAnimationFrame(drawSome);
  }

  return {
    add(item) {
      changed.add(item);
      aFrame = Math.max(patches.leastAFrame, aFrame, Math.ceil(changed.size / patches.frames));
      if (frame !== null) return;
      waitingSinceMs = performance.now();
      frame = requestAnimationFrame(drawSome);
    },
    drop: (item) => void changed.delete(item),
    moved(lines) {
      if (lines >= flight.lines) flyingUntilMs = performance.now() + flight.restMs;
    },
    stop() {
      if (frame !== null) cancelAnimationFrame(frame);
      frame = null;
      changed.clear();
      aFrame = 0;
    },
  };
}
