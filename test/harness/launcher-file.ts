/** Builds the launcher from its source, once for each file of tests that needs it, so that none needs a build of the whole. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { build } from 'vite';
import { afterAll } from 'vitest';

let built: Promise<string> | null = null;

// A worker of the tests ends by a signal, so its own end would be too late.
afterAll(async () => {
  if (built !== null) await rm(path.dirname(await built), { recursive: true, force: true });
});

export function launcherFile(): Promise<string> {
  built ??= buildLauncher();
  return built;
}

async function buildLauncher(): Promise<string> {
  const outDir = await mkdtemp(path.join(os.tmpdir(), 'iris-launcher-'));
  await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: {
        input: {
          launcher: path.resolve(import.meta.dirname, '../../main/backends/workstation/process/launcher.ts'),
        },
        output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  });
  return path.join(outDir, 'launcher.mjs');
}
