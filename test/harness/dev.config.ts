import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Serves the whole checkout, so that the harness page can import the window's source. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  publicDir: false,
  plugins: [react()],
  server: {
    port: 5199,
    strictPort: true,
    host: '127.0.0.1',
    hmr: false,
    watch: { ignored: ['**/.git/**', '**/.runtime/**', '**/out/**'] },
  },
  cacheDir: join(import.meta.dirname, '../../node_modules/.vite-harness'),
  optimizeDeps: { entries: ['test/harness/dev.html'] },
});
