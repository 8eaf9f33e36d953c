/** The bare Electron application beside the real one: same runtime, pages of React built the same way, in a folder of its own. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Vite from 'vite';
import { startWindow, type WindowProcess } from './window-cdp.js';

export type BarePage = 'empty' | 'list';

export interface BareApp {
  /** `rows`: those of the list's page. */
  start(page: BarePage, env: NodeJS.ProcessEnv, rows?: number): Promise<WindowProcess>;
  remove(): void;
}

interface Runtime {
  readonly executable: string;
  readonly folder: string;
  readonly kind: 'official' | 'fallback';
  readonly args: readonly string[];
}

export async function makeBareApp(root: string, runtime: Runtime): Promise<BareApp> {
  // Inside the checkout: the pages find its React, and the executable can be linked instead of copied.
  const folder = mkdtempSync(path.join(root, '.runtime', 'bare-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const twin = twinOf(runtime, path.join(folder, 'runtime'));
    const app = path.join(folder, 'runtime', 'resources', 'app');
    mkdirSync(app);
    writeFileSync(path.join(app, 'package.json'), JSON.stringify({ name: 'bare-window', main: 'main.cjs' }));
    await buildApp(root, folder, app);
    const profile = path.join(folder, 'profile');
    // Without the path of the real application, which only the official runtime is given.
    const args = runtime.args.filter((argument) => argument.startsWith('--'));
    return {
      start: (page, env, rows = 0) =>
        startWindow({
          executable: twin,
          args,
          env: {
            ...env,
            BENCH_PROFILE: profile,
            BENCH_PAGE: path.join(app, 'pages', `${page}.html`),
            BENCH_ROWS: String(rows),
          },
        }),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The runtime with another application in its resources folder, where Electron looks first. Returns the executable. */
export function twinOf(runtime: Runtime, to: string): string {
  mkdirSync(path.join(to, 'resources'), { recursive: true });
  const executable = path.basename(runtime.executable);
  for (const name of readdirSync(runtime.folder)) {
    if (name === 'resources') continue;
    const [from, target] = [path.join(runtime.folder, name), path.join(to, name)];
    // Electron looks for its files beside the real path of its executable: that one cannot be a symbolic link.
    if (name === executable) linkOrCopy(from, target);
    else symlinkSync(from, target);
  }
  return path.join(to, executable);
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to); // another file system
  }
}

async function buildApp(root: string, folder: string, app: string): Promise<void> {
  const children = path.join(root, 'test', 'bench', 'children');
  const pages = path.join(folder, 'pages');
  mkdirSync(pages);
  const names: readonly BarePage[] = ['empty', 'list'];
  for (const name of names) {
    const script = path.relative(pages, path.join(children, `window-${name}-page.ts`));
    writeFileSync(
      path.join(pages, `${name}.html`),
      `<!doctype html><meta charset="utf-8"><title>${name}</title><style>body{margin:0}</style>` +
        `<div id="root"></div><script type="module" src="${script}"></script>`,
    );
  }
  // Loaded from where it lies: bundled, it would not find its own parts.
  const url = pathToFileURL(path.join(root, 'node_modules', 'vite', 'dist', 'node', 'index.js')).href;
  const { build } = (await import(/* @vite-ignore */ url)) as typeof Vite;
  const common = { configFile: false, publicDir: false, logLevel: 'warn' } as const;
  await build({
    ...common,
    root: pages,
    base: './',
    build: {
      target: 'chrome130',
      outDir: path.join(app, 'pages'),
      emptyOutDir: true,
      reportCompressedSize: false,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: names.map((name) => path.join(pages, `${name}.html`)) },
    },
  });
  await build({
    ...common,
    root,
    ssr: { external: ['electron'], target: 'node' },
    build: {
      ssr: path.join(children, 'window-bare-main.ts'),
      target: 'node20',
      outDir: app,
      emptyOutDir: false,
      reportCompressedSize: false,
      rolldownOptions: { output: { format: 'cjs', entryFileNames: 'main.cjs' } },
    },
  });
}
