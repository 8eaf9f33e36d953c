// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { logCutMessage, logWaitsMessage } from '../../../core/formats/log-cut.js';
import type { LogViewProps } from '../../components/log-view/log-view.js';
import { fakeSummary, fakeTasks } from '../../../test/harness/fake-data.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { LogTab } from './log-tab.js';

// What draws the log has its own tests; here it counts what it is given.
vi.mock('../../components/log-view/log-view.js', () => ({
  LogView: ({ attemptUid, cut }: LogViewProps) => (
    <p>
      Log of {attemptUid}, cut {JSON.stringify(cut)}
    </p>
  ),
}));

function show(
  warnings: readonly { readonly code: 'LOG_STORAGE_FULL' | 'MEMORY_NEAR_LIMIT'; readonly message: string }[],
) {
  const summary = fakeSummary({ id: '/anna/train' });
  const [task] = fakeTasks(summary);
  const attempt = task?.attempts[0];
  if (task === undefined || attempt === undefined) throw new Error('no attempt');
  renderInWindow(
    <LogTab
      summary={summary}
      tasks={[{ ...task, attempts: [{ ...attempt, warnings: [...warnings] }] }]}
      place={{ tab: 'logs', task: null, attempt: null }}
      onPlace={() => undefined}
    />,
    { jobs: [summary] },
  );
  return attempt.uid;
}

describe('the log of an attempt', () => {
  it('says above it that it may be cut, and where', async () => {
    const message = logCutMessage('/data/uid', 'while the task ran', { out: 70, err: 8 });
    const uid = show([{ code: 'LOG_STORAGE_FULL', message }]);
    const notice = await screen.findByRole('region', { name: 'The log may be cut' });
    expect(notice.textContent).toBe(`Warning: ${message}`);
    expect(screen.getByText(`Log of ${uid}, cut {"out":70,"err":8}`)).toBeTruthy();
  });

  it('says it too where the place is not told', async () => {
    const uid = show([{ code: 'LOG_STORAGE_FULL', message: 'The disk was full.' }]);
    const notice = await screen.findByRole('region', { name: 'The log may be cut' });
    expect(notice.textContent).toBe('Warning: The disk was full.');
    expect(screen.getByText(`Log of ${uid}, cut null`)).toBeTruthy();
  });

  it('says of one that only waits for room that it waits', async () => {
    const message = logWaitsMessage('/data/uid');
    show([{ code: 'LOG_STORAGE_FULL', message }]);
    const notice = await screen.findByRole('region', { name: 'The end of the log waits for room' });
    expect(notice.textContent).toBe(`Warning: ${message}`);
  });

  it('says nothing of a whole log', async () => {
    const uid = show([{ code: 'MEMORY_NEAR_LIMIT', message: 'Near its limit.' }]);
    await screen.findByText(`Log of ${uid}, cut null`);
    expect(screen.queryByRole('region')).toBe(null);
  });
});
