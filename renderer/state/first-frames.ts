/**
 * The first answers of a connection come close upon each other while the first page is being drawn. Taken in one by one, each would have
 * the page drawn again; so those that have come by the time the page gets to them are taken in together.
 */

/** Runs it behind a message that waits already; null where there is no page. */
export type AskSoon = (run: () => void) => void;

/** The controller may be telling more and more: it is not waited for its end. */
const mostTurns = 40;

export function pageSoon(): AskSoon | null {
  // Where nothing is drawn nothing is gained: the same sign of a page as in idle-inbox.ts.
  if (typeof requestIdleCallback !== 'function') return null;
  return (run) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      run();
    };
    port2.postMessage(null);
  };
}

export interface FirstFrames {
  readonly receive: (text: string) => void;
  /** The connection ends: what waits is taken in now or never. */
  readonly flush: () => void;
}

/** `begins` is called once, before the first is taken in. */
export function firstTogether(
  take: (text: string) => void,
  askSoon: AskSoon | null,
  begins: () => void,
): FirstFrames {
  let waiting: string[] = [];
  let over = false;

  /** The page is given one message a turn: a turn without one tells that there are no more for now. */
  function turn(soon: AskSoon, seen: number, left: number): void {
    soon(() => {
      if (waiting.length > seen && left > 0) turn(soon, waiting.length, left - 1);
      else takeAll();
    });
  }

  function takeAll(): void {
    if (over || waiting.length === 0) return;
    const all = waiting;
    waiting = [];
    over = true;
    begins();
    for (const text of all) {
      try {
        take(text);
      } catch (error) {
        // As if each had come by itself: those behind it are taken in all the same.
        reportError(error);
      }
    }
  }

  return {
    receive(text) {
      if (over) {
        take(text);
        return;
      }
      waiting.push(text);
      if (askSoon === null) takeAll();
      else if (waiting.length === 1) turn(askSoon, 1, mostTurns);
    },
    flush: takeAll,
  };
}
