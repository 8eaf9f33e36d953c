/** How soon the window can be used, beside a bare Electron window, and what it costs while nothing happens. */
import { jobs as words } from '../../renderer/strings/jobs.js';
import { compare, limit, percentile, type BenchContext } from './harness.js';
import { noteLoad, openStage, pause, type WindowStage } from './window-app.js';
import type { WindowProcess } from './window-cdp.js';
import { whenDrawn } from './window-page.js';
import { processTimes } from './window-processes.js';

export const name = 'window';

const starts = 7;
/** Between two starts: what the last process left to the system is done by then. */
const restMs = 300;
const settleMs = 8_000;
const idleMs = 20_000;

export async function run(context: BenchContext): Promise<void> {
  const stage = await openStage(context.root);
  noteLoad(context);
  try {
    await coldStart(context, stage);
    await idle(context, stage);
  } finally {
    await stage.end();
  }
}

/** The empty state of the Jobs page is drawn only after the controller has answered. */
const jobsPageDrawn = (window: WindowProcess): Promise<number> =>
  window.evaluate(whenDrawn, 'h2', words.emptyTitle, 1);

async function coldStart(context: BenchContext, stage: WindowStage): Promise<void> {
  const home = stage.makeHome();
  const app = async () => timeOf(await stage.startApp(home), jobsPageDrawn);
  const bare = async () =>
    timeOf(await stage.startBare('empty'), (window) => window.evaluate(whenDrawn, '#ready', null, 1));
  // Once each before: the data folder and the profiles are made, the files are in the system's memory.
  const first = { app: await app(), bare: await bare() };
  context.note(`first start: application ${first.app.ms} ms, bare window ${first.bare.ms} ms`);
  const seen: { app: Start[]; bare: Start[] } = { app: [], bare: [] };
  for (let round = 0; round < starts; round += 1) {
    seen.app.push(await app());
    seen.bare.push(await bare());
  }
  const times = { app: seen.app.map(({ ms }) => ms), bare: seen.bare.map(({ ms }) => ms) };
  context.note(`application ${times.app.join(', ')} ms; bare window ${times.bare.join(', ')} ms`);
  const work = (all: readonly Start[]) =>
    `${percentile(
      all.map(({ cpuMs }) => cpuMs),
      0.5,
    ).toFixed(0)} ms`;
  context.note(
    `processor time of all processes until then, median: application ${work(seen.app)}, bare window ${work(seen.bare)}`,
  );
  context.figure(
    compare({
      name: 'cold start to a usable Jobs page, median',
      value: percentile(times.app, 0.5),
      unit: 'ms',
      beside: { name: 'bare Electron window', value: percentile(times.bare, 0.5) },
      atMost: 1.5,
    }),
  );
}

interface Start {
  readonly ms: number;
  /** Unlike the time, it hardly depends on what else the machine does. */
  readonly cpuMs: number;
}

async function timeOf(
  window: WindowProcess,
  drawn: (window: WindowProcess) => Promise<number>,
): Promise<Start> {
  try {
    const ms = (await drawn(window)) - window.startedAtMs;
    return { ms, cpuMs: processTimes(window.pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0) };
  } finally {
    await window.end();
    await pause(restMs);
  }
}

async function idle(context: BenchContext, stage: WindowStage): Promise<void> {
  const window = await stage.startApp(stage.makeHome());
  try {
    await jobsPageDrawn(window);
    await pause(settleMs);
    const before = new Map(processTimes(window.pid).map((one) => [one.pid, one.cpuMs]));
    const began = performance.now();
    await pause(idleMs);
    const after = processTimes(window.pid);
    const tookMs = performance.now() - began;
    const spent = after.map(({ pid, name: process, cpuMs }) => ({
      process,
      percent: ((cpuMs - (before.get(pid) ?? 0)) / tookMs) * 100,
    }));
    context.note(spent.map(({ process, percent }) => `${process} ${percent.toFixed(2)} %`).join(', '));
    context.figure(
      limit({
        name: 'idle processor use with the window on Jobs, all processes',
        value: spent.reduce((sum, { percent }) => sum + percent, 0),
        unit: '% of a core',
        atMost: 1,
      }),
    );
  } finally {
    await window.end();
  }
}
