import { describe, expect, it, onTestFinished } from 'vitest';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { InboxItem } from '../../core/contract/views.js';
import { advance, idleGrouping, offer, type GroupingState } from '../../main/shell/notification-grouping.js';
import { notificationText } from '../../main/shell/notification-text.js';
import { startNotifications } from '../../main/shell/notifications.js';

function item(id: number, part: Partial<InboxItem> = {}): InboxItem {
  return {
    id,
    jobId: `/ann/job-${id}`,
    jobName: `job-${id}`,
    state: 'SUCCEEDED',
    cause: null,
    atMs: 1000,
    durationMs: 61_000,
    read: false,
    ...part,
  };
}

describe('grouping', () => {
  /** Offers an item a time given; collects what is shown and when. */
  function replay(times: readonly number[], untilMs: number): (readonly [number, number])[] {
    let state: GroupingState<number> = idleGrouping();
    const shown: (readonly [number, number])[] = [];
    for (let now = 0; now <= untilMs; now += 500) {
      const due = advance(state, now);
      state = due.state;
      for (const group of due.show) shown.push([now, group.length]);
      for (const time of times.filter((at) => at === now)) {
        const step = offer(state, time, now);
        state = step.state;
        for (const group of step.show) shown.push([now, group.length]);
      }
    }
    return shown;
  }

  it('shows up to three in ten seconds at once, one by one', () => {
    expect(replay([0, 1000, 9500], 30_000)).toEqual([
      [0, 1],
      [1000, 1],
      [9500, 1],
    ]);
  });

  it('gathers what comes above three and shows it together at the end of the ten seconds', () => {
    expect(replay([0, 500, 1000, 1500, 2000, 9500], 30_000)).toEqual([
      [0, 1],
      [500, 1],
      [1000, 1],
      [10_000, 3],
    ]);
  });

  it('shows one every ten seconds while it goes on, and singles again after ten quiet ones', () => {
    const flood = Array.from({ length: 30 }, (_, second) => second * 1000);
    expect(replay([...flood, 50_000], 60_000)).toEqual([
      [0, 1],
      [1000, 1],
      [2000, 1],
      [10_000, 7],
      [20_000, 10],
      [30_000, 10],
      [50_000, 1],
    ]);
  });

  it('does not hold anything longer when the clock is set back', () => {
    let step = offer(idleGrouping<number>(), 1, 3_600_000);
    for (const value of [2, 3, 4]) step = offer(step.state, value, 3_600_000);
    expect(step.state.held).toEqual([4]);
    const back = advance(step.state, 1000);
    expect(back.wakeAtMs).toBe(11_000);
    expect(advance(back.state, 11_000).show).toEqual([[4]]);
  });
});

describe('words', () => {
  it('names one job, its end, its cause and its time', () => {
    const cause = { code: 'EXIT_CODE', message: 'The command ended with exit code 3.' } as const;
    expect(notificationText([item(1, { jobName: 'train', state: 'FAILED', cause })])).toEqual({
      title: 'train failed',
      body: 'The command ended with exit code 3. Ran 1m 01s.',
    });
  });

  it('ends what a task said last before it goes on', () => {
    const message = 'python ended with exit code 1. It said last: RuntimeError: out of memory';
    const failed = item(1, { jobName: 'train', state: 'FAILED', cause: { code: 'EXIT_CODE', message } });
    expect(notificationText([failed]).body).toBe(`${message}. Ran 1m 01s.`);
  });

  it('tells times by the clock of who reads it', () => {
    const cause = {
      code: 'SCHEDULING_DEADLINE',
      message: 'Had to start by 2026-12-01 08:00:00 UTC; it is 2026-12-01 08:00:05 UTC.',
    } as const;
    const zone = process.env['TZ'];
    onTestFinished(() => {
      process.env['TZ'] = zone ?? 'UTC';
    });
    process.env['TZ'] = 'Europe/Berlin';
    const { body } = notificationText([item(1, { state: 'UNSCHEDULABLE', cause, durationMs: null })]);
    expect(body).toBe('Had to start by 1 Dec 2026, 09:00:00; it is 1 Dec 2026, 09:00:05.');
  });

  it('says nothing of a time when nothing ran', () => {
    expect(notificationText([item(1, { state: 'UNSCHEDULABLE', durationMs: null })])).toEqual({
      title: 'job-1 could not start',
      body: '',
    });
  });

  it('counts several by how they ended, failures first, and names four', () => {
    const items = [1, 2, 3, 4, 5, 6].map((id) => item(id, { state: id === 6 ? 'FAILED' : 'SUCCEEDED' }));
    expect(notificationText(items)).toEqual({
      title: '6 jobs ended: 1 failed, 5 succeeded',
      body: 'job-1, job-2, job-3, job-4 and 2 more',
    });
  });

  it('a warning about a job that goes on, alone and with ends', () => {
    const cause = { code: 'GPU_IDLE', message: 'Its GPU is idle.' } as const;
    const warned = item(1, { jobName: 'train', state: 'RUNNING', cause, durationMs: null });
    expect(notificationText([warned])).toEqual({ title: 'train has a warning', body: 'Its GPU is idle.' });
    const both = [warned, item(2, { jobName: 'eval', state: 'FAILED' })];
    expect(notificationText(both)).toEqual({
      title: '2 messages of jobs: 1 failed, 1 with a warning',
      body: 'train, eval',
    });
  });

  it('passes no control characters on', () => {
    expect(notificationText([item(1, { jobName: 'a\u001b[31m\nb\u202e' })]).title).toBe('a [31m b succeeded');
  });
});

describe('from the list to the desktop', () => {
  function desk(list: InboxItem[]) {
    const shown: string[] = [];
    const opened: (string | null)[] = [];
    const clicks: (() => void)[] = [];
    const state = { paused: false, supported: true, refused: 0, refusal: new Error('the database is busy') };
    const logged: string[] = [];
    const timers: (() => void)[] = [];
    let snapshot: () => void = () => undefined;
    let delta: (items: readonly InboxItem[]) => void = () => undefined;
    const stop = startNotifications({
      client: {
        call: ((_method: string, params: { limit: number }) =>
          state.refused-- > 0
            ? Promise.reject(state.refusal)
            : Promise.resolve({
                items: [...list].sort((left, right) => right.id - left.id).slice(0, params.limit),
                unread: 0,
              })) as never,
        subscribe: ((
          _topic: string,
          _filter: object,
          onSnapshot: () => void,
          onDelta: (value: unknown) => void,
        ) => {
          snapshot = onSnapshot;
          delta = (items) => {
            onDelta({ items, unread: items.length });
          };
          return () => undefined;
        }) as never,
      },
      supported: () => state.supported,
      paused: () => state.paused,
      show: (text, clicked) => {
        shown.push(text.title);
        clicks.push(clicked);
      },
      open: (jobId) => opened.push(jobId),
      nowMs: () => 1_000_000,
      setTimer: (run) => {
        timers.push(run);
        return () => timers.splice(timers.indexOf(run), 1);
      },
      log: (line) => {
        if (!line.includes(state.refusal.message)) throw new Error(line);
        logged.push(line);
      },
    });
    return {
      shown,
      opened,
      clicks,
      state,
      stop,
      timers,
      logged,
      async connect() {
        snapshot();
        await new Promise((resolve) => setImmediate(resolve));
      },
      push(...items: InboxItem[]) {
        list.push(...items);
        delta(items);
      },
      missed: (...items: InboxItem[]) => list.push(...items),
    };
  }

  it('leaves it to the next connection to ask again where this one ended', async () => {
    const desktop = desk([item(1)]);
    desktop.state.refusal = new RefusalError(refusal('DISCONNECTED', 'The connection ended.'));
    desktop.state.refused = 1;
    await desktop.connect();
    expect(desktop.logged).toHaveLength(1);
    expect(desktop.timers).toEqual([]);
    await desktop.connect();
    desktop.push(item(2));
    expect(desktop.shown).toHaveLength(1);
  });

  it('never tells what ended before it started', async () => {
    const desktop = desk([item(1), item(2)]);
    await desktop.connect();
    expect(desktop.shown).toEqual([]);
    desktop.push(item(3));
    expect(desktop.shown).toEqual(['job-3 succeeded']);
    desktop.clicks[0]?.();
    expect(desktop.opened).toEqual(['/ann/job-3']);
  });

  it('asks again for the list that could not be read at the start, and tells what ended since', async () => {
    const desktop = desk([item(1)]);
    desktop.state.refused = 1;
    await desktop.connect();
    desktop.push(item(2));
    expect([desktop.shown, desktop.timers.length]).toEqual([[], 1]);
    desktop.timers[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    desktop.push(item(3));
    expect(desktop.shown).toEqual(['job-2 succeeded', 'job-3 succeeded']);
  });

  it('leaves no question behind when it is over', async () => {
    const desktop = desk([]);
    desktop.state.refused = 1;
    await desktop.connect();
    desktop.stop();
    expect(desktop.timers).toEqual([]);
  });

  it('tells an end once, however often it is sent, and not what is read', async () => {
    const desktop = desk([]);
    await desktop.connect();
    desktop.push(item(1));
    desktop.push(item(1, { read: true }), item(2, { read: true }));
    expect(desktop.shown).toEqual(['job-1 succeeded']);
  });

  it('catches up with what ended while the connection was gone', async () => {
    const desktop = desk([item(1)]);
    await desktop.connect();
    desktop.missed(item(2), item(3));
    await desktop.connect();
    expect(desktop.shown).toEqual(['job-2 succeeded', 'job-3 succeeded']);
  });

  it('shows nothing while paused, nor where the desktop has no notifications, and nothing later', async () => {
    const desktop = desk([]);
    await desktop.connect();
    desktop.state.paused = true;
    desktop.push(item(1));
    desktop.state.paused = false;
    desktop.state.supported = false;
    desktop.push(item(2));
    desktop.state.supported = true;
    desktop.push(item(3));
    expect(desktop.shown).toEqual(['job-3 succeeded']);
  });
});
