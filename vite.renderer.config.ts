import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const root = import.meta.dirname;

export default defineConfig({
  root: join(root, 'renderer'),
  publicDir: false,
  // Served from the window's own scheme and, for the browser, from a path of the server.
  base: './',
  logLevel: 'warn',
  plugins: [react()],
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
  },
});
