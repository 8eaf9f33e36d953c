import { join } from 'node:path';
import { defineConfig } from 'vite';

const root = import.meta.dirname;

/** The preload as one CommonJS file: Chromium's sandbox lets it require Electron and nothing else. */
export default defineConfig({
  root,
  publicDir: false,
  logLevel: 'warn',
  ssr: { noExternal: true, external: ['electron'], target: 'node' },
  build: {
    ssr: true,
    target: 'chrome130',
    outDir: join(root, 'out/preload'),
    emptyOutDir: true,
    minify: false,
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { preload: join(root, 'main/preload/preload.ts') },
      output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
    },
  },
});
