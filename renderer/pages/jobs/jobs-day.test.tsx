// @vitest-environment jsdom
import { waitFor } from '@testing-library/react';
import { expect, it, onTestFinished, vi } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { JobsPage } from './jobs-page.js';

it('shows from midnight on what failed on the new day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(new Date(2026, 10, 30, 23, 59, 50));
  const { host } = renderInWindow(<JobsPage query="show=failed-today" />);
  const since = () => host.callsOf('job.list').map(({ filter }) => filter.finishedSinceMs);
  await waitFor(() => {
    expect(since().at(-1)).toBe(new Date(2026, 10, 30).getTime());
  });
  vi.setSystemTime(new Date(2026, 11, 1, 0, 0, 5));
  await waitFor(() => {
    expect(since().at(-1)).toBe(new Date(2026, 11, 1).getTime());
  });
});
