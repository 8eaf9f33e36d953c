import { describe, expect, it } from 'vitest';
import type { ClosingAnswer, DesktopSettings } from '../../core/contract/desktop-bridge.js';
import { createLeaving, type QuitChoice } from '../../main/shell/leaving.js';

function setUp(
  part: {
    tray?: boolean;
    closeToTray?: DesktopSettings['closeToTray'];
    unfinished?: number | null;
    pageAsks?: boolean;
    quitAnswer?: QuitChoice;
    trayAnswer?: ClosingAnswer;
    diskFull?: boolean;
  } = {},
) {
  const done: string[] = [];
  const leaving = createLeaving({
    hasTrayHost: () => Promise.resolve(part.tray ?? true),
    settings: () => ({ closeToTray: part.closeToTray ?? 'ask', notificationsPaused: false, theme: 'system' }),
    keepChoice: (choice) => {
      if (part.diskFull === true) throw new Error('no space left');
      done.push(`keep ${choice}`);
    },
    jobsNow: () =>
      Promise.resolve(part.unfinished === null ? null : { running: part.unfinished ?? 0, waiting: 0 }),
    askPage: (running) => {
      if (part.pageAsks === false) return false;
      done.push(`page asked (${running})`);
      return true;
    },
    askTrayOrQuit: (unfinished) => {
      done.push(`system asked (${unfinished})`);
      return Promise.resolve(part.trayAnswer ?? { choice: 'cancel', remember: false });
    },
    askQuit: (unfinished) => {
      done.push(`quit asked (${unfinished})`);
      return Promise.resolve(part.quitAnswer ?? 'cancel');
    },
    hideWindow: () => done.push('hidden'),
    quit: (stopQueue) => done.push(stopQueue ? 'quit, queue stopped' : 'quit'),
    log: (line) => done.push(line),
  });
  return { leaving, done, settled: () => new Promise((resolve) => setImmediate(resolve)) };
}

describe('closing the window', () => {
  it('asks in the page where there is a tray, and does as answered', async () => {
    const { leaving, done, settled } = setUp();
    expect(leaving.windowCloses()).toBe(false);
    await settled();
    leaving.answered({ choice: 'tray', remember: true });
    expect(done).toEqual(['page asked (0)', 'keep tray', 'hidden']);
  });

  it('does as answered also where the choice cannot be kept', async () => {
    const { leaving, done, settled } = setUp({ diskFull: true });
    leaving.windowCloses();
    await settled();
    leaving.answered({ choice: 'tray', remember: true });
    expect(done.slice(1)).toEqual([
      'What closing the window means cannot be kept: Error: no space left',
      'hidden',
    ]);
  });

  it('asks by the system when the page does not answer, or cannot be asked', async () => {
    const stuck = setUp({ trayAnswer: { choice: 'quit', remember: false }, unfinished: 2 });
    stuck.leaving.windowCloses();
    await stuck.settled();
    stuck.leaving.windowCloses();
    await stuck.settled();
    expect(stuck.done).toEqual(['page asked (2)', 'system asked (2)', 'quit']);
    const absent = setUp({ pageAsks: false });
    absent.leaving.windowCloses();
    await absent.settled();
    expect(absent.done).toEqual(['system asked (0)']);
  });

  it('takes the answer of the page also after the question of the system', async () => {
    const { leaving, done, settled } = setUp();
    leaving.windowCloses();
    await settled();
    leaving.windowCloses();
    await settled();
    leaving.answered({ choice: 'tray', remember: false });
    expect(done).toEqual(['page asked (0)', 'system asked (0)', 'hidden']);
    leaving.answered({ choice: 'quit', remember: false });
    expect(done).toHaveLength(3);
  });

  it('lets no late answer of the page change what the queue was told at the end', async () => {
    const { leaving, done, settled } = setUp({ unfinished: 2, quitAnswer: 'stop-queue' });
    leaving.windowCloses();
    await settled();
    leaving.quitChosen();
    await settled();
    leaving.answered({ choice: 'quit', remember: false });
    expect(done).toEqual(['page asked (2)', 'quit asked (2)', 'quit, queue stopped']);
  });

  it('follows what was remembered', async () => {
    const tray = setUp({ closeToTray: 'tray', unfinished: 5 });
    tray.leaving.windowCloses();
    await tray.settled();
    expect(tray.done).toEqual(['hidden']);
    const quit = setUp({ closeToTray: 'quit' });
    quit.leaving.windowCloses();
    await quit.settled();
    expect(quit.done).toEqual(['quit']);
    expect(quit.leaving.windowCloses()).toBe(true);
  });

  it('never hides where no tray would bring it back', async () => {
    const nothing = setUp({ tray: false, closeToTray: 'tray' });
    nothing.leaving.windowCloses();
    await nothing.settled();
    expect(nothing.done).toEqual(['quit']);
    const jobs = setUp({ tray: false, closeToTray: 'tray', unfinished: 3, quitAnswer: 'cancel' });
    jobs.leaving.windowCloses();
    await jobs.settled();
    expect(jobs.done).toEqual(['quit asked (3)']);
  });

  it('does nothing on an answer nobody asked for', () => {
    const { leaving, done } = setUp();
    leaving.answered({ choice: 'quit', remember: true });
    expect(done).toEqual([]);
  });

  it('asks once, however often the button is pressed meanwhile', async () => {
    const { leaving, done, settled } = setUp({ tray: false, unfinished: 1 });
    for (let press = 0; press < 3; press++) leaving.windowCloses();
    await settled();
    expect(done).toEqual(['quit asked (1)']);
  });
});

describe('quitting from a menu', () => {
  it.each<[number | null, QuitChoice, string[]]>([
    [0, 'cancel', ['quit']],
    [null, 'cancel', ['quit']],
    [2, 'cancel', ['quit asked (2)']],
    [2, 'quit', ['quit asked (2)', 'quit']],
    [2, 'stop-queue', ['quit asked (2)', 'quit, queue stopped']],
  ])('%s unfinished, answer %s', async (unfinished, quitAnswer, expected) => {
    const { leaving, done, settled } = setUp({ unfinished, quitAnswer });
    leaving.quitChosen();
    await settled();
    expect(done).toEqual(expected);
  });
});
