import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
  document.body.innerHTML = '';
});

test('the first page is drawn before its script is over', async () => {
  // React draws in a later task unless told otherwise; here none comes.
  vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout'] });
  vi.stubGlobal('MessageChannel', undefined);
  document.body.innerHTML = '<div id="root"></div>';
  await import('./main.js');
  expect(document.getElementById('root')?.textContent).toContain('Iris Desktop');
});
