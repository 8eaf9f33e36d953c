/**
 * Changes that the controller tells by itself are taken in between two frames, when the page has time: taken in as they come, each tenth
 * of them makes the frame it falls into late, and a frame that is late by a millisecond is drawn with the next one. What is no such
 * change is taken in at once, after those that came before it, so that the order stays.
 */

/** Frames of the contract begin with their kind. */
const deltaStart = '{"kind":"delta"';
/** A page that has no time takes them in after so long. */
const longestMs = 100;
/** Less time than that is not begun with. */
const leastMs = 6;

export interface IdleDeadline {
  readonly didTimeout: boolean;
  timeRemaining(): number;
}

/** As the page has it; null where there is none. */
export type AskIdle = (
  run: (deadline: IdleDeadline) => void,
  options: { readonly timeout: number },
) => unknown;

export function pageIdle(): AskIdle | null {
  return typeof requestIdleCallback === 'function'
    ? (run, options) => requestIdleCallback(run, options)
    : null;
}

export function createIdleInbox(
  take: (text: string) => void,
  askIdle: AskIdle | null,
): (text: string) => void {
  let waiting: string[] = [];
  let asked = false;

  function ask(idle: AskIdle): void {
    asked = true;
    idle(
      (deadline) => {
        asked = false;
        let taken = 0;
        while (taken < waiting.length && (deadline.didTimeout || deadline.timeRemaining() >= leastMs)) {
          const text = waiting[taken] ?? '';
          taken += 1;
          take(text);
        }
        waiting = waiting.slice(taken);
        if (waiting.length > 0) ask(idle);
      },
      { timeout: longestMs },
    );
  }

  return (text) => {
    if (askIdle !== null && text.startsWith(deltaStart)) {
      waiting.push(text);
      if (!asked) ask(askIdle);
      return;
    }
    const before = waiting;
    waiting = [];
    for (const each of before) take(each);
    take(text);
  };
}
