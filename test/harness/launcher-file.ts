/** Builds the launcher from its source, once a test process, so that tests need no build of the whole. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { build } from 'vite';

let built: Promise<string> | null = null;

export function launcherFile(): Promise<string> {
  built ??= buildLauncher();
  return built;
}

async function buildLauncher(): Promise<string> {
  const outDir = await mkdtemp(path.join(os.tmpdir(), 'iris-launcher-'));
  process.once('exit', () => void rm(outDir, { recursive: true, force: true }));
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
