// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, it, onTestFinished, vi } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { useRoute } from '../../app/router.js';
import { JobsPage } from './jobs-page.js';

function Routed() {
  const route = useRoute();
  return route.page === 'jobs' ? <JobsPage query={route.query} /> : null;
}

it('searches for nothing that was taken back at once', async () => {
  const { host } = renderInWindow(<Routed />, { jobs: 12 });
  await screen.findByText('train-llm', { exact: true });
  const box = screen.getByRole<HTMLInputElement>('textbox', { name: 'Search name or command' });
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  fireEvent.change(box, { target: { value: 'a' } });
  fireEvent.change(box, { target: { value: '' } });
  act(() => {
    vi.advanceTimersByTime(1000);
  });
  expect(host.callsOf('job.list').map(({ filter }) => filter.search ?? '')).not.toContain('a');
  expect(window.location.hash).not.toContain('q=');
  expect(box.value).toBe('');
});
