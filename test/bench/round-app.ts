/** The Electron application of the round's bench: built, started, waited for. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Vite from 'vite';
import type * as Displays from '../../scripts/lib/display.mjs';
import type * as Runtimes from '../../scripts/runtime.mjs';
import type { RoundReport } from './round-result.js';
import { twinOf } from './window-bare.js';

const patienceMs = 300_000;

export async function runRoundApp(root: string): Promise<RoundReport> {
  // Loaded from where they lie: bundled, they would not find the checkout.
  const script = (name: string) => pathToFileURL(path.join(root, 'scripts', name)).href;
  const runtimes = (await import(/* @vite-ignore */ script('runtime.mjs'))) as typeof Runtimes;
  const displays = (await import(/* @vite-ignore */ script('lib/display.mjs'))) as typeof Displays;
  const runtime = runtimes.resolveRuntime({ display: 'virtual' });
  // Inside the checkout: the executable can be linked instead of copied.
  const folder = mkdtempSync(path.join(root, '.runtime', 'round-'));
  const data = mkdtempSync(path.join(os.tmpdir(), 'iris-bench-'));
  const display = await displays.startDisplay();
  try {
    const executable = twinOf(runtime, path.join(folder, 'runtime'));
    const app = path.join(folder, 'runtime', 'resources', 'app');
    mkdirSync(app);
    writeFileSync(path.join(app, 'package.json'), JSON.stringify({ name: 'round', main: 'round-main.cjs' }));
    // Electron lets an application in its resources folder look for modules there alone.
    symlinkSync(path.join(root, 'node_modules'), path.join(app, 'node_modules'));
    for (const name of ['round-main', 'round-worker']) await bundle(root, app, name);
    const out = path.join(data, 'report.json');
    await start(
      executable,
      runtime.args.filter((argument) => argument.startsWith('--')),
      {
        ...process.env,
        ...runtime.env,
        ...display.env,
        BENCH_FOLDER: data,
        BENCH_OUT: out,
        BENCH_THREAD: path.join(app, 'round-worker.cjs'),
      },
    );
    const report = JSON.parse(readFileSync(out, 'utf8')) as RoundReport | { readonly error: string };
    if ('error' in report) throw new Error(report.error);
    return report;
  } finally {
    display.stop();
    for (const each of [folder, data]) rmSync(each, { recursive: true, force: true });
  }
}

async function bundle(root: string, app: string, name: string): Promise<void> {
  const url = pathToFileURL(path.join(root, 'node_modules', 'vite', 'dist', 'node', 'index.js')).href;
  const { build } = (await import(/* @vite-ignore */ url)) as typeof Vite;
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    root,
    ssr: { noExternal: true, external: ['electron', 'better-sqlite3'], target: 'node' },
    build: {
      ssr: path.join(root, 'test', 'bench', 'children', `${name}.ts`),
      target: 'node20',
      outDir: app,
      emptyOutDir: false,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: { output: { format: 'cjs', entryFileNames: `${name}.cjs` } },
    },
  });
}

/** Resolves when it has ended, which it does by itself. */
async function start(executable: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(executable, args, {
    // A group of its own: Chromium's helpers end with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = (errors + String(chunk)).slice(-4000)));
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, patienceMs);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code === null)
      throw new Error(`Electron did not end by itself within ${patienceMs / 1000} s. ${errors}`);
  } finally {
    clearTimeout(timer);
  }
}
