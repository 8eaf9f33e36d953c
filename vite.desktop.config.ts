import { defineConfig } from 'vite';
import { cachedCode } from './vite.controller.config.js';

/** The desktop's entry and its code. */
export default defineConfig(
  cachedCode('desktop', { desktop: 'main/desktop.ts', 'desktop-code': 'main/shell/desktop-code.ts' }),
);
