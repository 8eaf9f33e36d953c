/** Functions that run in a measured page. Each is sent as text and may use nothing from outside itself. */

/**
 * Resolves with the wall clock once at least `count` elements match the selector and, where given, hold exactly that text, after the
 * frame that shows them. Asked once a frame, the same in every page compared.
 */
export function whenDrawn(selector: string, text: string | null, count: number): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      const found = [...document.querySelectorAll(selector)].filter(
        (element) => text === null || element.textContent === text,
      );
      if (found.length < count) {
        requestAnimationFrame(look);
        return;
      }
      requestAnimationFrame(() => {
        // A message is handled after the frame in which it was posted.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          port1.close();
          resolve(Date.now());
        };
        port2.postMessage(null);
      });
    };
    look();
  });
}

/** Goes to a page of the application and resolves with the milliseconds until so many elements are drawn. */
export function timeToDraw(hash: string, selector: string, count: number): Promise<number> {
  return new Promise((resolve) => {
    const began = performance.now();
    const look = () => {
      if (document.querySelectorAll(selector).length < count) {
        requestAnimationFrame(look);
        return;
      }
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          port1.close();
          resolve(performance.now() - began);
        };
        port2.postMessage(null);
      });
    };
    window.location.hash = hash;
    look();
  });
}

/** Loads the page again at another place; the answer comes from the new page's successor calls. */
export function loadAgain(hash: string): void {
  window.location.hash = hash;
  window.location.reload();
}

interface FrameRecord {
  readonly times: number[];
  stop: boolean;
}

interface WithRecord {
  benchFrames?: FrameRecord;
}

export function startFrames(): void {
  const record: FrameRecord = { times: [], stop: false };
  (globalThis as WithRecord).benchFrames = record;
  const next = () => {
    if (record.stop) return;
    record.times.push(performance.now());
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

/** Milliseconds between the frames since `startFrames`. */
export function stopFrames(): number[] {
  const record = (globalThis as WithRecord).benchFrames;
  if (record === undefined) throw new Error('No frames were recorded.');
  record.stop = true;
  return record.times.slice(1).map((time, index) => time - (record.times[index] ?? time));
}

export function scrollTo(selector: string, top: number): void {
  const scroller = document.querySelector(selector);
  if (scroller === null) throw new Error(`The page has no ${selector}.`);
  scroller.scrollTop = top;
}

export function scrollTopOf(selector: string): number {
  return document.querySelector(selector)?.scrollTop ?? Number.NaN;
}
