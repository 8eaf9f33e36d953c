import { describe, expect, it } from 'vitest';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import {
  createLogFeed,
  pageBytes,
  placeBefore,
  scrollbackLines,
  skipBytes,
  windowBytes,
  type LogFeed,
  type LogScreen,
} from './log-feed.js';
import type { LogPlace, LogSource, StreamChoice } from './log-source.js';

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
function makeScreen() {
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

function start(text: string, choice: StreamChoice = 'out') {
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
async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
}

const line = (index: number) => `line ${String(index).padStart(8, '0')}${'.'.repeat(60)}\n`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index)).join('');
const lineBytes = line(0).length;

describe('log feed', () => {
  it('shows a short log whole and what it grows by', async () => {
    const { feed, screen, grow } = start('one\n');
    feed.grown({ out: 4, err: 0 }, false);
    expect(feed.state.get().loading).toBe(true);
    await settled();
    expect(feed.state.get()).toMatchObject({
      loading: false,
      following: true,
      behind: 0,
      earlier: 0,
      complete: false,
    });
    grow('two\n');
    await settled();
    expect(screen.text).toBe('one\ntwo\n');
    expect(screen.ends).toBeGreaterThan(0);
  });

  it('says that an empty log is complete', async () => {
    const { feed, log } = start('');
    log.finish();
    feed.grown({ out: 0, err: 0 }, true);
    await settled();
    expect(feed.state.get()).toMatchObject({ loading: false, complete: true, size: { out: 0, err: 0 } });
  });

  it('starts a long log at its tail and knows how much is before it', async () => {
    const total = Math.ceil((windowBytes * 3) / lineBytes);
    const { feed, log, screen } = start(lines(0, total));
    feed.grown(log.size, false);
    await settled();
    expect(log.reads).toEqual([{ from: 'tail', maxBytes: windowBytes }]);
    expect(feed.state.get().earlier).toBe(log.size.out - windowBytes);
    expect(screen.text.endsWith(line(total - 1))).toBe(true);
  });

  it('asks for nothing more until the terminal has drawn what it has', async () => {
    const { feed, screen, log, grow } = start('a\n');
    feed.grown(log.size, false);
    await settled();
    screen.hold();
    grow(lines(0, Math.ceil((pageBytes * 3) / lineBytes)));
    await settled();
    expect(log.reads).toHaveLength(2);
    expect(screen.pending).toBe(1);
    for (let turn = 0; turn < 6; turn += 1) {
      screen.release();
      await settled();
    }
    expect(feed.state.get().behind).toBe(0);
    expect(screen.text.split('\n').length).toBeGreaterThan((pageBytes * 3) / lineBytes);
  });

  it('skips ahead with a marked gap when far behind while following', async () => {
    const { feed, screen, log, grow } = start('first\n');
    feed.grown(log.size, false);
    await settled();
    const count = Math.ceil((skipBytes * 2) / lineBytes);
    grow(lines(0, count));
    await settled();
    const skipped = log.size.out - windowBytes - 6;
    expect(screen.text).toContain(`first\n[${skipped} bytes not shown]\n`);
    expect(screen.text.endsWith(line(count - 1))).toBe(true);
    expect(log.reads.filter((read) => read.from === 'tail')).toHaveLength(2);
    expect(screen.text.length).toBeLessThan(windowBytes + 1000);
  });

  it('fetches nothing while the reader looks at what was before, and goes on where it was', async () => {
    const { feed, screen, log, grow } = start('one\n');
    feed.grown(log.size, false);
    await settled();
    feed.setFollowing(false);
    grow('two\n');
    await settled();
    expect(screen.text).toBe('one\n');
    expect(feed.state.get().behind).toBe(4);
    feed.readOn();
    await settled();
    expect(screen.text).toBe('one\ntwo\n');
    grow('three\n');
    feed.setFollowing(true);
    await settled();
    expect(screen.text).toBe('one\ntwo\nthree\n');
  });

  it('loads what was before without losing the reader, then reads on to the end', async () => {
    const total = Math.ceil((windowBytes * 2.5) / lineBytes);
    const { feed, screen, log } = start(lines(0, total));
    feed.grown(log.size, false);
    await settled();
    const before = feed.state.get().earlier;
    feed.loadEarlier();
    await settled();
    expect(feed.state.get()).toMatchObject({ following: false, earlier: before - windowBytes });
    // The row that was the first on the screen before.
    const linesBefore = Math.floor(before / lineBytes) - Math.floor((before - windowBytes) / lineBytes);
    expect(Math.abs((screen.scrolledTo.at(-1) ?? 0) - linesBefore)).toBeLessThanOrEqual(1);
    feed.loadEarlier();
    await settled();
    expect(feed.state.get().earlier).toBe(0);
    expect(screen.text.startsWith(line(0))).toBe(true);
    while (feed.state.get().behind > 0) {
      feed.readOn();
      await settled();
    }
    // Nothing missing and nothing twice, over all the pages.
    expect(screen.text).toBe(lines(0, total));
  });

  it('counts what has left the terminal as earlier', async () => {
    const short = 'x\n'.repeat(windowBytes);
    const { feed, log } = start(short);
    feed.grown(log.size, false);
    await settled();
    const kept = log.size.out - feed.state.get().earlier;
    expect(kept).toBeGreaterThanOrEqual(2 * scrollbackLines);
    expect(kept).toBeLessThan(2 * scrollbackLines + 2 * 32 * 1024);
  });

  it('finds the row of a byte', async () => {
    const total = Math.ceil((windowBytes * 2) / lineBytes);
    const { feed, screen, log } = start(lines(0, total));
    feed.grown(log.size, false);
    await settled();
    const wanted = 9000;
    const row = await feed.showAround({ out: wanted * lineBytes, err: 0 });
    await settled();
    expect(screen.text.split('\n')[row]).toBe(line(wanted).trimEnd());
    expect(feed.state.get().following).toBe(false);
    expect(feed.state.get().loading).toBe(false);
  });

  it('keeps what was shown when reading fails, and goes on after another try', async () => {
    const { feed, screen, log, grow } = start('one\n');
    feed.grown(log.size, false);
    await settled();
    log.fail(new RefusalError(refusal('UNAVAILABLE', 'The controller is stopping.')));
    grow('two\n');
    await settled();
    expect(feed.state.get().error?.message).toBe('The controller is stopping.');
    expect(screen.text).toBe('one\n');
    log.fail(null);
    feed.retry();
    await settled();
    expect(feed.state.get().error).toBe(null);
    expect(screen.text).toBe('one\ntwo\n');
  });

  it('does not ask for ever when the log is shorter than was told', async () => {
    const { feed, log } = start('one\n');
    feed.grown({ out: 400, err: 0 }, false);
    await settled();
    expect(log.reads.length).toBeLessThanOrEqual(2);
    expect(feed.state.get().behind).toBe(0);
  });

  it('counts only the stream it shows', async () => {
    const { feed } = start('one\n');
    feed.grown({ out: 4, err: 9_000_000 }, false);
    await settled();
    expect(feed.state.get()).toMatchObject({ behind: 0, size: { out: 4, err: 0 } });
  });

  it('shows an unfinished line that was held back once nothing more comes, and nothing after closing', async () => {
    const { feed, screen, log, runTimers, grow } = start('50%', 'both');
    feed.grown(log.size, false);
    await settled();
    runTimers();
    expect(screen.text).toBe('50%');
    feed.close();
    grow('more');
    await settled();
    expect(screen.text).toBe('50%');
  });
});

describe('placeBefore', () => {
  it.each<[LogPlace, number, LogPlace]>([
    [{ out: 100, err: 0 }, 1000, { out: 0, err: 0 }],
    [{ out: 3000, err: 0 }, 1000, { out: 2000, err: 0 }],
    [{ out: 3000, err: 1000 }, 1000, { out: 2250, err: 750 }],
  ])('%j less %i is %j', (place, bytes, expected) => {
    expect(placeBefore(place, bytes)).toEqual(expected);
  });
});
