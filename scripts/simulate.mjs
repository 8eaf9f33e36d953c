/**
 * `npm run simulate [-- --compare] [--policy original|ours] [--seeds N] [--days D] [--load L] [--json]`: the scheduler over made-up traces in virtual
 * time, see test/bench/simulate. Exit code 1 with `--compare` when our rules do not hold what they promise beside the original's.
 */
import { fork } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { localDir, nodeModules, root } from './lib/paths.mjs';
import { prepare } from './prepare/index.mjs';

await prepare({ window: false, bundles: [] });
const outDir = join(localDir, `simulate-${process.pid}`);
try {
  mkdirSync(outDir, { recursive: true });
  const { build } = await import(pathToFileURL(join(nodeModules, 'vite', 'dist', 'node', 'index.js')).href);
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      emptyOutDir: true,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: { simulate: join(root, 'test', 'bench', 'simulate', 'main.ts') },
        output: { format: 'es', entryFileNames: '[name].mjs' },
      },
    },
  });
  process.exitCode = await run(process.argv.slice(2));
} finally {
  rmSync(outDir, { recursive: true, force: true });
}

/** @param {readonly string[]} words @returns {Promise<number>} */
function run(words) {
  return new Promise((resolve) => {
    const child = fork(join(outDir, 'simulate.mjs'), words, {
      env: { ...process.env, NODE_ENV: 'production' },
    });
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
