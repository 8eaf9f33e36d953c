import { defineConfig } from 'vitest/config';

// Hosts of tests that run beside each other must not take each other's jobs into account.
process.env['IRIS_DESKTOP_CLAIMS'] = 'none';
// What a task sees must come from the code under test, not from the shell the tests were started in.
delete process.env['PYTHONUNBUFFERED'];

const node = ['core/**/*.test.ts', 'main/**/*.test.ts', 'test/**/*.test.ts'];

/** One project a stage of scripts/test.mjs. Tests of the window run in jsdom, all others in Node. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    // Limits for what hangs. On a machine that was just made the first run of each program, an Engine's or an SSH server's among them, takes
    // seconds: its disk is read for the first time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    // As `eventually` of the tests has it: what is awaited normally takes milliseconds.
    expect: { poll: { timeout: 60_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: node,
          exclude: ['test/{e2e,accept,store,contract,backends,faults,cluster,load}/**', 'node_modules/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'renderer',
          environment: 'jsdom',
          include: ['renderer/**/*.test.ts', 'renderer/**/*.test.tsx'],
        },
      },
      ...['store', 'contract', 'backends', 'faults', 'cluster'].map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          ...(name === 'faults' ? { testTimeout: 300_000 } : {}),
        },
      })),
    ],
  },
});
