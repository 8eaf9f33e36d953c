import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

/** Tests of the real window. scripts/test.mjs prepares the runtime, the display and the session bus they need. */
export default defineConfig({
  testDir: 'test/e2e',
  testMatch: '**/*.test.ts',
  // The windows of two tests would fight over the tray, the notifications and two processors.
  workers: 1,
  // A limit for what hangs. What a test waits for has limits of its own.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  retries: 0,
  // Under an ordinary user the checkout may not be writable.
  outputDir: process.env['IRIS_E2E_OUTPUT'] ?? join(import.meta.dirname, 'test-results'),
  reporter:
    process.env['IRIS_E2E_REPORT'] === undefined
      ? 'list'
      : [['line'], ['json', { outputFile: process.env['IRIS_E2E_REPORT'] }]],
  use: { trace: 'off' },
});
