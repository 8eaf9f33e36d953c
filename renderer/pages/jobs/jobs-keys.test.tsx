// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { JobsPage } from './jobs-page.js';

const press = (key: string) => {
  fireEvent.keyDown(document.activeElement ?? document.body, { key });
};
const active = () =>
  screen.getByRole('treegrid').getAttribute('aria-activedescendant')?.replace('job-row-', '') ?? null;

async function show(jobs: number) {
  const { host, desktop } = renderInWindow(<JobsPage query="" />, { jobs });
  await screen.findByText('train-llm', { exact: true });
  const ids = [...host.jobs.values()]
    .filter((row) => row.parentId === null)
    .sort((a, b) => b.submittedAtMs - a.submittedAtMs)
    .map((row) => row.id);
  return { host, desktop, ids };
}

describe('keys in a list of which only a part is loaded', () => {
  it('go on from the end they went to, once its rows are there', async () => {
    const { ids } = await show(2000);
    press('j');
    press('End');
    await waitFor(() => {
      expect(active()).toBe(ids.at(-1));
    });
    press('k');
    expect(active()).toBe(ids.at(-2));
    press('Home');
    expect(active()).toBe(ids[0]);
  });

  it('go as far as they were pressed, though no row was there yet', async () => {
    const { ids } = await show(2000);
    press('End');
    press('k');
    press('k');
    await waitFor(() => {
      expect(active()).toBe(ids.at(-3));
    });
  });

  it('stay where somebody has gone meanwhile', async () => {
    const { ids, host } = await show(2000);
    host.hold();
    press('End');
    press('Home');
    host.release();
    await screen.findByText('train-llm', { exact: true });
    await waitFor(() => {
      expect(host.callsOf('job.list').length).toBeGreaterThan(1);
    });
    expect(active()).toBe(ids[0]);
  });
});

describe('keys after their row has gone', () => {
  it.each([
    ['j', 4],
    ['k', 2],
  ])('%s goes to its neighbour', async (key, neighbour) => {
    const { host, ids } = await show(12);
    for (const again of ['j', 'j', 'j', 'j']) press(again);
    expect(active()).toBe(ids[3]);
    host.remove(ids[3] ?? '');
    host.publish();
    await screen.findByText('11 jobs');
    press(key);
    expect(active()).toBe(ids[neighbour]);
  });
});
