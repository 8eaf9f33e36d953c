/** A log and a screen by hand, and a feed between them. */
import { type RefusalError } from '../../core/contract/errors.js';
import { createLogFeed, type LogFeed, type LogScreen } from '../../renderer/components/log-view/log-feed.js';
import type { LogPlace, LogSource, StreamChoice } from '../../renderer/components/log-view/log-source.js';

const encoder = new TextEncoder();

/** A log of one stream that grows by hand. Counts what was asked for. */
function makeLog() {
  let bytes = new Uint8Array(0);
  let done = false;
  let failure: RefusalError | null = null;
  const reads: { from: LogPlace | 'tail'; maxBytes: number }[] = [];
  const source: LogSource = {
    read(from, maxBytes) {
      reads.push({ from, maxBytes });
      if (failure !== null) return Promise.reject(failure);
      const offset = from === 'tail' ? Math.max(0, bytes.length - maxBytes) : from.out;
      const part = bytes.subarray(offset, offset + maxBytes);
      const next = offset + part.length;
      return Promise.resolve({
        chunks: part.length === 0 ? [] : [{ stream: 'out' as const, offset, bytes: part }],
        next: { out: next, err: 0 },
        size: { out: bytes.length, err: 0 },
        complete: done && next === bytes.length,
      });
    },
  };
  return {
    source,
    reads,
    get size(): LogPlace {
      return { out: bytes.length, err: 0 };
    },
    append(text: string) {
      const added = encoder.encode(text);
      const grown = new Uint8Array(bytes.length + added.length);
      grown.set(bytes);
      grown.set(added, bytes.length);
      bytes = grown;
    },
    finish() {
      done = true;
    },
    fail(error: RefusalError | null) {
      failure = error;
    },
  };
}

/** A screen that draws when told to, so that back-pressure can be seen. */
export function makeScreen() {
  let text = '';
  let waiting: (() => void)[] = [];
  let held = false;
  let cleared = 0;
  let ends = 0;
  const scrolledTo: number[] = [];
  const screen: LogScreen = {
    write(written, done) {
      text += written;
      if (held) waiting.push(done);
      else queueMicrotask(done);
    },
    clear() {
      text = '';
      cleared += 1;
    },
    columns: 100,
    cursorRow: () => text.split('\n').length - 1,
    scrollToRow(row) {
      scrolledTo.push(row);
    },
    scrollToEnd() {
      ends += 1;
    },
  };
  return {
    screen,
    scrolledTo,
    get text() {
      return text.replaceAll('\x1b[0m', '').replaceAll('\x1b[2m', '').replaceAll('\r\n', '\n');
    },
    get pending() {
      return waiting.length;
    },
    get cleared() {
      return cleared;
    },
    get ends() {
      return ends;
    },
    hold() {
      held = true;
    },
    release() {
      held = false;
      const ready = waiting;
      waiting = [];
      for (const done of ready) done();
    },
  };
}

export function startFeed(text: string, choice: StreamChoice = 'out') {
  const log = makeLog();
  log.append(text);
  const screen = makeScreen();
  const timers: (() => void)[] = [];
  const feed: LogFeed = createLogFeed({
    source: log.source,
    choice,
    screen: screen.screen,
    gapText: (bytes) => `[${bytes} bytes not shown]`,
    setTimer(run) {
      timers.push(run);
      return () => {
        timers.splice(timers.indexOf(run), 1);
      };
    },
  });
  return {
    log,
    screen,
    feed,
    runTimers() {
      for (const run of timers.splice(0)) run();
    },
    grow(more: string) {
      log.append(more);
      feed.grown(log.size, false);
    },
  };
}

/** Lets every promise that can settle do so. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
}
