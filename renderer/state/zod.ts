/**
 * What every file of the window gets as `zod` (vite.renderer.config.ts): the page's policy forbids eval, which zod would otherwise use
 * when a schema is made. Here and not in the first script, which makes no schema and so need not read zod.
 */
import { config } from 'zod';

config({ jitless: true });

export * from 'zod';
