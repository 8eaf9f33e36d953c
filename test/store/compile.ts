/** Builds programs of the tests for plain Node, which these start as real processes and threads. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '../..');

export interface Compiled {
  /** Path of the program built from that entry. */
  file(name: string): string;
  remove(): void;
}

/** `entries`: name to source, relative to the repository. */
export async function compile(entries: Readonly<Record<string, string>>): Promise<Compiled> {
  // Below node_modules, so that the native module is found from there.
  const cache = join(root, 'node_modules/.cache/iris-tests');
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, 'store-'));
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: ['better-sqlite3'], target: 'node' },
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      emptyOutDir: false,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries(
          Object.entries(entries).map(([name, source]) => [name, join(root, source)]),
        ),
        output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: 'chunk-[hash].mjs' },
      },
    },
  });
  return {
    file: (name) => join(outDir, `${name}.mjs`),
    remove: () => {
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}
