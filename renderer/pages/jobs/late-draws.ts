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
/**
 * So many lines within such a time cannot be read, and all that are drawn leave within a second: the list flies until it was slower for
 * as long. A change waits for `longestMs` at most, where the list is moved to and fro and what changed never leaves.
 */
const flight = { lines: 4, withinMs: 100, longestMs: 1000 };

export function createLateDraws<Item>(draw: (item: Item) => void): LateDraws<Item> {
  /** With the time since when each waits, the oldest first. */
  const changed = new Map<Item, number>();
  let aFrame = 0;
  let frame: number | null = null;
  let flyingUntilMs = Number.NEGATIVE_INFINITY;
  let moves = { sinceMs: Number.NEGATIVE_INFINITY, lines: 0 };

  function drawSome(): void {
    const nowMs = performance.now();
    const flying = nowMs < flyingUntilMs;
    let left = aFrame;
    for (const [item, sinceMs] of changed) {
      if (flying && nowMs - sinceMs < flight.longestMs) break;
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
      if (!changed.has(item)) changed.set(item, performance.now());
      aFrame = Math.max(patches.leastAFrame, aFrame, Math.ceil(changed.size / patches.frames));
      frame ??= requestAnimationFrame(drawSome);
    },
    drop: (item) => void changed.delete(item),
    moved(lines) {
      const nowMs = performance.now();
      if (nowMs - moves.sinceMs > flight.withinMs) moves = { sinceMs: nowMs, lines: 0 };
      moves.lines += lines;
      if (moves.lines >= flight.lines) flyingUntilMs = nowMs + flight.withinMs;
    },
    stop() {
      if (frame !== null) cancelAnimationFrame(frame);
      frame = null;
      changed.clear();
      aFrame = 0;
    },
  };
}
