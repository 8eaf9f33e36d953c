// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { JobsPage } from './jobs-page.js';
import { mostAsked, renewSelected } from './selected-rows.js';

describe('what is selected while changes are missed', () => {
  it('lets go of what is gone by then, and offers what can be done with the rest as it is now', async () => {
    const { host, desktop } = renderInWindow(<JobsPage query="" />, { jobs: 12 });
    for (const name of ['train-llm', 'eval-mmlu'])
      fireEvent.click(await screen.findByText(name, { exact: true }), { ctrlKey: true });
    expect(screen.getByRole('toolbar', { name: '2 selected' }).textContent).toContain('Stop 2 jobs');
    desktop.host.setPaused(true);
    host.remove('/anna/train-llm');
    host.change('/anna/eval-mmlu', { state: 'SUCCEEDED', finishedAtMs: host.nowMs });
    host.publish();
    desktop.host.setPaused(false);
    const bar = await screen.findByRole('toolbar', { name: '1 selected' });
    await screen.findByRole('button', { name: /^Run again/ });
    expect(bar.textContent).not.toContain('Stop');
  });

  const ids = Array.from({ length: mostAsked + 100 }, (_, n) => `/anna/job-${n}`);
  const asked = (code: 'NOT_FOUND' | 'UNAVAILABLE' | null) => {
    const seen = { calls: 0, put: 0, dropped: 0 };
    const call = (_method: string, { jobId }: { jobId: string }) => {
      seen.calls += 1;
      if (code !== null) return Promise.reject(new RefusalError(refusal(code, 'no')));
      return Promise.resolve({ summary: fakeSummary({ id: jobId }) });
    };
    const jobs = { put: (rows: readonly unknown[]) => void (seen.put += rows.length) };
    const selection = { selected: () => ids, drop: () => void (seen.dropped += 1) };
    return renewSelected(call as never, jobs, selection).then(() => seen);
  };

  it('asks for so many and no more', async () => {
    expect(await asked(null)).toEqual({ calls: mostAsked, put: mostAsked, dropped: 0 });
  });

  it('asks no further, and lets go of nothing, where nobody answers', async () => {
    expect(await asked('UNAVAILABLE')).toEqual({ calls: 8, put: 0, dropped: 0 });
  });
});
