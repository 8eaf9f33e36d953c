/** The list of 10,000 and of 100,000 jobs: its first page, its frames while it is scrolled and while jobs change, and what it keeps in memory. */
import { common } from '../../renderer/strings/common.js';
import { compare, limit, percentile, type BenchContext } from './harness.js';
import { noteLoad, openStage, pause, type WindowStage } from './window-app.js';
import type { WindowProcess } from './window-cdp.js';
import { fillHome, openChangingHost, type ChangingHost } from './window-jobs.js';
import {
  loadAgain,
  scrollTo,
  scrollTopOf,
  startFrames,
  stopFrames,
  timeToDraw,
  whenDrawn,
} from './window-page.js';

export const name = 'list';

const sizes = [10_000, 100_000] as const;

const rowHeight = 30;
const rowSelector = '[id^="job-row-"]';
/** A window of the design's size shows more than this; the list draws some beyond it. */
const rowsInView = 20;
const openings = 7;
const rounds = 3;
const roundMs = 5_000;
const wheel = { everyMs: 16, pixels: 120 };
const changesASecond = 500;
const mebibyte = 1024 * 1024;

/** Some 4 KiB a row the page keeps, which are all up to this many: its summary, its place, and what React keeps of the few that are drawn. */
const keptBytes = 4 * 1024;
const mostKept = 20_000;

interface Scrolled {
  readonly window: WindowProcess;
  readonly scroller: string;
}

export async function run(context: BenchContext): Promise<void> {
  const stage = await openStage(context.root);
  noteLoad(context);
  try {
    for (const count of sizes) {
      const bare: Scrolled = { window: await stage.startBare('list', count), scroller: '#scroller' };
      await bare.window.evaluate(whenDrawn, '.row', null, rowsInView);
      await overDatabase(context, stage, bare, count);
      await overChangingHost(context, stage, bare, count);
      await bare.window.end();
    }
  } finally {
    await stage.end();
  }
}

/** The controller itself over a database of ended jobs. */
async function overDatabase(
  context: BenchContext,
  stage: WindowStage,
  bare: Scrolled,
  count: number,
): Promise<void> {
  const home = stage.makeHome();
  fillHome(home, count, Date.now());
  const window = await stage.startApp(home);
  await window.evaluate(whenDrawn, rowSelector, null, rowsInView);
  const times: number[] = [];
  for (let opening = 0; opening < openings; opening += 1) {
    // The page knows no row: it begins anew on another one, whose rows lie in its own tables.
    await window.evaluate(loadAgain, '#/overview');
    await window.evaluate(whenDrawn, 'h1', 'Overview', 1);
    await window.evaluate(whenDrawn, 'footer *', common.connected, 1);
    await pause(500);
    times.push(await window.evaluate(timeToDraw, '#/jobs', rowSelector, rowsInView));
  }
  context.note(`first page of ${count} jobs: ${times.map((time) => time.toFixed(0)).join(', ')} ms`);
  context.figure(
    limit({
      name: `first page of ${count} jobs, asked for until drawn, median`,
      value: percentile(times, 0.5),
      unit: 'ms',
      atMost: 100,
    }),
  );
  const app = { window, scroller: jobsScroller };
  await compareFrames(context, `p99 frame while scrolling ${count}`, { bare, app, count });
  await window.end();
}

const jobsScroller = '[role="treegrid"] > [role="none"]';

/** A host that does nothing else, so that the window alone is measured: real jobs at this rate would take both cores. */
async function overChangingHost(
  context: BenchContext,
  stage: WindowStage,
  bare: Scrolled,
  count: number,
): Promise<void> {
  const home = stage.makeHome();
  const host = await openChangingHost(home, count);
  try {
    const window = await stage.startApp(home);
    const app: Scrolled = { window, scroller: jobsScroller };
    await window.evaluate(whenDrawn, rowSelector, null, rowsInView);
    const empty = await heapOf(window);
    await loadAllRows(app, count);
    const loaded = await heapOf(window);
    // A collection asked for throws compiled code away as well: both begin their frames after one.
    await heapOf(bare.window);
    const what = `p99 frame while scrolling ${count} and ${changesASecond} changes/s`;
    await compareFrames(context, what, { bare, app, count }, host);
    await checkUpToDate(context, app, host, count);
    const after = await heapOf(window);
    context.figure(
      limit({
        name: `memory of the page for ${count} jobs it has shown`,
        value: (loaded - empty) / mebibyte,
        unit: 'MiB',
        atMost: Math.ceil((Math.min(count, mostKept) * keptBytes) / mebibyte),
      }),
    );
    context.figure(
      limit({
        name: `growth of that for ${count} over ${(rounds * roundMs * changesASecond) / 1000} changes`,
        value: (after - loaded) / mebibyte,
        unit: 'MiB',
        // What is kept was full before and was replaced: what stays after a collection, beyond compiled code, is a leak.
        atMost: 4,
      }),
    );
    await window.end();
  } finally {
    await host.close();
  }
}

/** In turns, so that what else the machine does meets both. */
async function compareFrames(
  context: BenchContext,
  what: string,
  { bare, app, count }: { readonly bare: Scrolled; readonly app: Scrolled; readonly count: number },
  host?: ChangingHost,
): Promise<void> {
  const frames: { app: number[]; bare: number[] } = { app: [], bare: [] };
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Each round begins where no other has been.
    const start = Math.floor((count * rowHeight * round) / rounds);
    frames.bare.push(...(await scrollRound(bare, start)));
    const changing = (line: () => number) => {
      const change = host?.change(changesASecond, line);
      return () => void rates.push(change?.stop() ?? 0);
    };
    frames.app.push(...(await scrollRound(app, start, changing)));
  }
  const summary = (samples: readonly number[]) =>
    `${samples.length} frames, median ${percentile(samples, 0.5).toFixed(1)}, p95 ${percentile(samples, 0.95).toFixed(1)}, p99 ${percentile(samples, 0.99).toFixed(1)}, longest ${Math.max(...samples).toFixed(1)} ms`;
  context.note(`${what}: ${summary(frames.app)}; empty list ${summary(frames.bare)}`);
  if (host !== undefined)
    context.note(`changes a second sent: ${rates.map((rate) => rate.toFixed(0)).join(', ')}`);
  context.figure(
    compare({
      name: what,
      value: percentile(frames.app, 0.99),
      unit: 'ms',
      beside: { name: 'empty virtual list', value: percentile(frames.bare, 0.99) },
      atMost: 1.5,
    }),
  );
}

function wheelPixels(elapsedMs: number): number {
  return Math.floor(elapsedMs / wheel.everyMs) * wheel.pixels;
}

/** The fixed turning of a wheel, and the times between the frames meanwhile. */
async function scrollRound(
  { window, scroller }: Scrolled,
  start: number,
  alongside: (line: () => number) => () => void = () => () => undefined,
): Promise<number[]> {
  await window.evaluate(scrollTo, scroller, start);
  await pause(500);
  await window.evaluate(startFrames);
  const began = performance.now();
  const end = alongside(() => Math.floor((start + wheelPixels(performance.now() - began)) / rowHeight));
  for (let turn = 0; turn * wheel.everyMs < roundMs; turn += 1) {
    const wait = began + turn * wheel.everyMs - performance.now();
    if (wait > 0) await pause(wait);
    window.post('Input.dispatchMouseEvent', {
      type: 'mouseWheel',
      x: 640,
      y: 400,
      deltaX: 0,
      deltaY: wheel.pixels,
    });
  }
  const frames = await window.evaluate(stopFrames);
  end();
  const top = await window.evaluate(scrollTopOf, scroller);
  // A wheel that turned nothing would measure a still page.
  if (!(top - start > wheelPixels(roundMs) / 2))
    throw new Error(`The wheel moved the list by ${top - start} pixels only, not ${wheelPixels(roundMs)}.`);
  return frames;
}

async function loadAllRows({ window, scroller }: Scrolled, count: number): Promise<void> {
  const linesAStep = 150;
  for (let line = 0; line < count; line += linesAStep) {
    await window.evaluate(scrollTo, scroller, line * rowHeight);
    await window.evaluate(whenDrawn, rowSelector, null, rowsInView);
  }
}

/** A change made now is soon on the screen: the page has not fallen behind. */
async function checkUpToDate(
  context: BenchContext,
  app: Scrolled,
  host: ChangingHost,
  count: number,
): Promise<void> {
  // The last turn of the wheel still moves the list for a moment.
  await pause(500);
  await app.window.evaluate(scrollTo, app.scroller, 0);
  await pause(500);
  await app.window.evaluate(whenDrawn, rowSelector, null, rowsInView);
  const command = 'echo the last change';
  const drawn = app.window.evaluate(whenDrawn, `${rowSelector} *`, command, 1);
  const began = Date.now();
  host.mark(3, command);
  context.figure(
    limit({
      name: `a change in ${count} after those until it is drawn`,
      value: (await drawn) - began,
      unit: 'ms',
      // Two of the longest gaps between two deltas.
      atMost: 200,
    }),
  );
}

/** Live objects of the page's scripts, after a collection. */
async function heapOf(window: WindowProcess): Promise<number> {
  await window.send('HeapProfiler.collectGarbage');
  const usage = (await window.send('Runtime.getHeapUsage')) as { usedSize: number };
  return usage.usedSize;
}
