/** Serves the window over the made-up controller of dev.tsx: `node test/harness/dev-server.mjs`, then the address it prints. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { createServer } from 'vite';

const root = join(import.meta.dirname, '../..');
const server = await createServer({
  configFile: false,
  // The whole checkout, so that the page can import the window's source.
  root,
  publicDir: false,
  plugins: [react()],
  cacheDir: join(root, 'node_modules/.vite-harness'),
  optimizeDeps: { entries: ['test/harness/dev.html'] },
  server: {
    port: Number(process.env['PORT'] ?? 5199),
    strictPort: true,
    host: '127.0.0.1',
    hmr: false,
    watch: { ignored: ['**/.git/**', '**/.runtime/**', '**/out/**'] },
  },
});
await server.listen();
console.log(
  `${server.resolvedUrls?.local[0] ?? ''}test/harness/dev.html?jobs=10000&live=500&theme=dark#/jobs`,
);
