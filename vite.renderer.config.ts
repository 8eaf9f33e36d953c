import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { type Plugin, defineConfig } from 'vite';

const root = import.meta.dirname;

/** Modules the first script imports, directly or through others; not what it imports later. */
const first = new Set<string>();

function findFirst(): Plugin {
  return {
    name: 'iris-find-first',
    buildEnd() {
      first.clear();
      const waiting = [...this.getModuleIds()].filter((id) => this.getModuleInfo(id)?.isEntry === true);
      for (const id of waiting) {
        if (first.has(id)) continue;
        first.add(id);
        waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []));
      }
    },
  };
}

const zod = join(root, 'renderer/state/zod.ts');

/** Whoever asks for zod gets it settled for this page, whichever file comes first. */
function settleZod(): Plugin {
  return {
    name: 'iris-settle-zod',
    enforce: 'pre',
    resolveId: (id, importer) => (id === 'zod' && importer !== zod ? zod : null),
  };
}

export default defineConfig({
  root: join(root, 'renderer'),
  publicDir: false,
  // Served from the window's own scheme and, for the browser, from a path of the server.
  base: './',
  logLevel: 'warn',
  plugins: [settleZod(), react(), findFirst()],
  build: {
    target: 'chrome130',
    outDir: join(root, 'out/renderer'),
    emptyOutDir: true,
    sourcemap: false,
    reportCompressedSize: false,
    // The content security policy allows files of our origin only, no data URLs and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4000,
    // All of the first script in one file: each more is asked for, answered and read apart, before anything is drawn.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'first', test: (id: string) => first.has(id) }] } },
    },
  },
});
