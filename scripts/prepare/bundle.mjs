/** The three bundles: main side, preload, window. Each is built when what it is made of changed. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inputsDigest, readStamp, writeStamp } from '../lib/inputs.mjs';
import { localDir, nodeModules, root } from '../lib/paths.mjs';
import { UserError } from '../lib/step.mjs';

const common = ['core', 'package-lock.json', 'tsconfig.base.json'];

/** @type {readonly {name: string, configs: readonly string[], needs: string, made: string, inputs: readonly string[]}[]} */
const bundles = [
  {
    name: 'main',
    configs: ['vite.main.config.ts', 'vite.controller.config.ts', 'vite.desktop.config.ts'],
    needs: 'main',
    made: 'out/main',
    inputs: [...common, 'main', 'vite.main.config.ts', 'vite.controller.config.ts', 'vite.desktop.config.ts'],
  },
  {
    name: 'preload',
    configs: ['vite.preload.config.ts'],
    needs: 'main/preload/preload.ts',
    made: 'out/preload',
    inputs: [...common, 'main/preload', 'main/ipc', 'vite.preload.config.ts'],
  },
  {
    name: 'renderer',
    configs: ['vite.renderer.config.ts'],
    needs: 'renderer/index.html',
    made: 'out/renderer',
    inputs: [...common, 'renderer', 'vite.renderer.config.ts'],
  },
];

/** @param {typeof bundles[number]} bundle */
function isDue(bundle) {
  if (!existsSync(join(root, bundle.needs))) return false;
  if (!existsSync(join(root, bundle.made))) return true;
  return readStamp(`bundle-${bundle.name}`) !== inputsDigest(bundle.inputs);
}

/** Names of the bundles that must be built again. @param {readonly string[]} names */
export function dueBundles(names) {
  return bundles
    .filter((bundle) => names.includes(bundle.name) && isDue(bundle))
    .map((bundle) => bundle.name);
}

/** Names of bundles whose source is not there. */
export function absentBundles() {
  return bundles.filter((bundle) => !existsSync(join(root, bundle.needs))).map((bundle) => bundle.name);
}

/**
 * Builds beside the old output and swaps by renaming, so that a program started meanwhile finds one or the other whole.
 * @param {readonly string[]} names @param {(text: string) => void} note
 */
export async function buildBundles(names, note) {
  const { build } = await import(pathToFileURL(join(nodeModules, 'vite', 'dist', 'node', 'index.js')).href);
  // Vite makes the whole process a production one, and what is started from here would be too.
  const mode = process.env.NODE_ENV;
  for (const bundle of bundles.filter((one) => names.includes(one.name))) {
    note(bundle.name);
    // Taken before the build: what changes while it runs makes it due again.
    const digest = inputsDigest(bundle.inputs);
    const fresh = join(root, 'out', `.next-${bundle.name}-${process.pid}`);
    const old = join(root, 'out', `.old-${bundle.name}-${process.pid}`);
    const made = join(root, bundle.made);
    try {
      for (const [index, config] of bundle.configs.entries()) {
        await build({
          configFile: join(root, config),
          build: { outDir: fresh, emptyOutDir: index === 0 },
        }).catch((/** @type {Error} */ error) => {
          throw new UserError(`The ${bundle.name} side could not be built:\n${error.message}`);
        });
      }
      mkdirSync(localDir, { recursive: true });
      if (existsSync(made)) renameSync(made, old);
      renameSync(fresh, made);
      writeStamp(`bundle-${bundle.name}`, digest);
    } finally {
      if (mode === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = mode;
      rmSync(fresh, { recursive: true, force: true });
      rmSync(old, { recursive: true, force: true });
    }
  }
}
