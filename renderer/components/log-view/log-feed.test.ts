import { describe, expect, it } from 'vitest';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { makeScreen, settled, startFeed } from '../../../test/harness/fake-log.js';
import type { LogChunk } from './composer.js';
import { createLogFeed, pageBytes, scrollbackLines, skipBytes, windowBytes } from './log-feed.js';

const line = (index: number) => `line ${String(index).padStart(8, '0')}${'.'.repeat(60)}\n`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index)).join('');
const lineBytes = line(0).length;

describe('log feed', () => {
  it('shows a short log whole and what it grows by', async () => {
    const { feed, screen, grow } = startFeed('one\n');
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

  it('shows what was heard of a line until the log has grown by it, at its end only', async () => {
    const { feed, screen, log, grow } = startFeed('one\n\r 1%');
    feed.began(log.size, false, { out: '\r 5%', err: '\r 9%' });
    await settled();
    expect(screen.text.endsWith(' 5%')).toBe(true);
    expect(screen.text).not.toContain(' 9%');
    feed.grown(log.size, false, { out: '\r 6%', err: '' });
    await settled();
    expect(screen.text.endsWith(' 6%')).toBe(true);
    grow('\r 2%');
    await settled();
    expect(screen.text.endsWith('\r 1%\r 2%')).toBe(true);
    feed.setFollowing(false);
    const before = screen.text;
    feed.grown(log.size, false, { out: '\r 7%', err: '' });
    await settled();
    expect(screen.text).toBe(before);
    feed.setFollowing(true);
    await settled();
    expect(screen.text.endsWith(' 7%')).toBe(true);
    feed.failed(refusal('UNAVAILABLE', 'The host ended.'));
    await settled();
    expect(screen.text.endsWith(' 2%')).toBe(true);
  });

  it('says that an empty log is complete', async () => {
    const { feed, log } = startFeed('');
    log.finish();
    feed.grown({ out: 0, err: 0 }, true);
    await settled();
    expect(feed.state.get()).toMatchObject({ loading: false, complete: true, size: { out: 0, err: 0 } });
  });

  it('starts a long log at its tail and knows how much is before it', async () => {
    const total = Math.ceil((windowBytes * 3) / lineBytes);
    const { feed, log, screen } = startFeed(lines(0, total));
    feed.grown(log.size, false);
    await settled();
    expect(log.reads).toEqual([{ from: 'tail', maxBytes: windowBytes }]);
    expect(feed.state.get().earlier).toBe(log.size.out - windowBytes);
    expect(screen.text.endsWith(line(total - 1))).toBe(true);
  });

  it('asks for nothing more until the terminal has drawn what it has', async () => {
    const { feed, screen, log, grow } = startFeed('a\n');
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
    const { feed, screen, log, grow } = startFeed('first\n');
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
    const { feed, screen, log, grow } = startFeed('one\n');
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
    const { feed, screen, log } = startFeed(lines(0, total));
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
    const { feed, log } = startFeed(short);
    feed.grown(log.size, false);
    await settled();
    const kept = log.size.out - feed.state.get().earlier;
    expect(kept).toBeGreaterThanOrEqual(2 * scrollbackLines);
    expect(kept).toBeLessThan(2 * scrollbackLines + 2 * 32 * 1024);
  });

  it('counts lines wider than the terminal by their rows, also one that never ends', async () => {
    // 500 columns each on 100: five rows.
    const wide = `${'w'.repeat(499)}\n`.repeat(8000);
    const rows = startFeed('');
    rows.feed.grown({ out: 0, err: 0 }, false);
    await settled();
    for (let at = 0; at < wide.length; at += pageBytes) {
      rows.grow(wide.slice(at, at + pageBytes));
      await settled();
    }
    const kept = rows.log.size.out - rows.feed.state.get().earlier;
    expect(kept).toBeGreaterThanOrEqual(scrollbackLines * 100);
    expect(kept).toBeLessThan(scrollbackLines * 100 + 2 * 32 * 1024);
    const endless = startFeed('');
    endless.feed.grown({ out: 0, err: 0 }, false);
    await settled();
    for (let part = 0; part < 12; part += 1) {
      endless.grow('e'.repeat(pageBytes));
      await settled();
    }
    const shown = endless.log.size.out - endless.feed.state.get().earlier;
    expect(shown).toBeGreaterThanOrEqual(scrollbackLines * 100);
    expect(shown).toBeLessThan(scrollbackLines * 100 + 2 * 32 * 1024);
  });

  it('draws nothing between two parts of a page, late as the quiet before it may end', async () => {
    const told: LogChunk[] = [];
    const bytes = (stream: 'out' | 'err', offset: number, text: string): LogChunk => ({
      stream,
      offset,
      bytes: new TextEncoder().encode(text),
    });
    const screen = makeScreen();
    const timers: (() => void)[] = [];
    const sizes = { out: 0, err: 0 };
    const feed = createLogFeed({
      source: {
        read: () => {
          const chunks = told.splice(0);
          for (const chunk of chunks) sizes[chunk.stream] = chunk.offset + chunk.bytes.length;
          return Promise.resolve({ chunks, next: { ...sizes }, size: { ...sizes }, complete: false });
        },
      },
      choice: 'both',
      screen: screen.screen,
      gapText: String,
      setTimer(run) {
        timers.push(run);
        return () => {
          timers.splice(timers.indexOf(run), 1);
        };
      },
    });
    told.push(bytes('out', 0, 'start\n'));
    feed.grown({ out: 6, err: 0 }, false);
    await settled();
    screen.hold();
    const page = lines(0, 1000);
    told.push(bytes('out', 6, `${page}half of a line`), bytes('err', 0, '50%'));
    feed.grown({ out: 6 + page.length + 14, err: 3 }, false);
    await settled();
    for (const run of timers.splice(0)) run();
    while (screen.pending > 0) {
      screen.release();
      screen.hold();
      await settled();
    }
    expect(screen.text.replace(/\x1b\[[0-9;]*[mK]/g, '').startsWith(`start\n${page}`)).toBe(true);
  });

  it('finds the row of a byte', async () => {
    const total = Math.ceil((windowBytes * 2) / lineBytes);
    const { feed, screen, log } = startFeed(lines(0, total));
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
    const { feed, screen, log, grow } = startFeed('one\n');
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

  it('goes on by itself when the controller tells of it anew', async () => {
    const { feed, screen, log, grow } = startFeed('one\n');
    feed.began(log.size, false);
    await settled();
    log.fail(new RefusalError(refusal('UNAVAILABLE', 'The controller is not reachable.')));
    grow('two\n');
    await settled();
    expect(feed.state.get().error?.code).toBe('UNAVAILABLE');
    log.fail(null);
    feed.grown(log.size, false);
    await settled();
    expect(feed.state.get().error?.code).toBe('UNAVAILABLE');
    feed.began(log.size, false);
    await settled();
    expect(feed.state.get().error).toBe(null);
    expect(screen.text).toBe('one\ntwo\n');
    feed.failed(refusal('NOT_FOUND', 'There is no attempt.'));
    feed.began(log.size, true);
    expect(feed.state.get()).toMatchObject({ error: null, loading: false });
  });

  it('does not ask for ever when the log is shorter than was told', async () => {
    const { feed, log } = startFeed('one\n');
    feed.grown({ out: 400, err: 0 }, false);
    await settled();
    expect(log.reads.length).toBeLessThanOrEqual(2);
    expect(feed.state.get().behind).toBe(0);
  });

  it('counts only the stream it shows', async () => {
    const { feed } = startFeed('one\n');
    feed.grown({ out: 4, err: 9_000_000 }, false);
    await settled();
    expect(feed.state.get()).toMatchObject({ behind: 0, size: { out: 4, err: 0 } });
  });

  it('shows an unfinished line that was held back once nothing more comes, and nothing after closing', async () => {
    const { feed, screen, log, runTimers, grow } = startFeed('50%', 'both');
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
