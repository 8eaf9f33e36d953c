/** What the benches of the window stand on: a display, the runtime, data folders, and the application started on one. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolveHome, type Home } from '../../main/home.js';
import type * as Displays from '../../scripts/lib/display.mjs';
import type * as Runtimes from '../../scripts/runtime.mjs';
import type { BenchContext } from './harness.js';
import { makeBareApp, type BareApp, type BarePage } from './window-bare.js';
import { startWindow, type WindowProcess } from './window-cdp.js';

export interface WindowStage {
  /** A fresh data folder, removed with the stage. */
  makeHome(): Home;
  startApp(home: Home): Promise<WindowProcess>;
  /** `rows`: those of the list's page. */
  startBare(page: BarePage, rows?: number): Promise<WindowProcess>;
  /** Ends every window that is still there, then the display. */
  end(): Promise<void>;
}

export async function openStage(root: string): Promise<WindowStage> {
  // Loaded from where they lie: bundled, they would not find the checkout.
  const script = (name: string) => pathToFileURL(path.join(root, 'scripts', name)).href;
  const runtimes = (await import(/* @vite-ignore */ script('runtime.mjs'))) as typeof Runtimes;
  const displays = (await import(/* @vite-ignore */ script('lib/display.mjs'))) as typeof Displays;
  const runtime = runtimes.resolveRuntime({ display: 'virtual' });
  // Wide enough for two windows beside each other: one that is wholly covered draws nothing.
  const display = await displays.startDisplay({ size: '3840x800x24' });
  const env = { ...process.env, ...runtime.env, ...display.env, IRIS_HEADLESS_DISPLAY: '1' };
  const windows = new Set<WindowProcess>();
  const folders: string[] = [];
  let bare: BareApp | null = null;

  async function keep(starting: Promise<WindowProcess>): Promise<WindowProcess> {
    const window = await starting;
    windows.add(window);
    return {
      ...window,
      async end() {
        windows.delete(window);
        await window.end();
      },
    };
  }

  return {
    makeHome() {
      const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-bench-'));
      folders.push(folder);
      return resolveHome({ flag: folder });
    },
    startApp: (home) =>
      keep(
        startWindow({
          executable: runtime.executable,
          args: runtime.args,
          env: { ...env, IRIS_DESKTOP_HOME: home.root },
        }),
      ),
    async startBare(page, rows) {
      bare ??= await makeBareApp(root, runtime);
      return keep(bare.start(page, env, rows));
    },
    async end() {
      for (const window of [...windows]) await window.end();
      display.stop();
      bare?.remove();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A busy machine lengthens what does much more than what does little: the ratios are those of an idle one. */
export function noteLoad(context: BenchContext): void {
  const [lastMinute = Number.NaN] = os.loadavg();
  context.note(
    `load of the machine before: ${lastMinute.toFixed(1)} on ${os.availableParallelism()} processors`,
  );
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
