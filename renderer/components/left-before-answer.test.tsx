// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../core/contract/errors.js';
import { fakeSummary } from '../../test/harness/fake-data.js';
import { FakeHost } from '../../test/harness/fake-host.js';
import { fakeLab } from '../../test/harness/fake-lab.js';
import { renderInWindow } from '../../test/harness/render-window.js';
import { AppProviders } from '../app/app.js';
import { currentRoute, jobRoute, machineRoute, navigate, overviewRoute } from '../app/router.js';
import { JobPage } from '../pages/job/job-page.js';
import { MachinePage } from '../pages/machine/machine-page.js';

function show(host: FakeHost, page: ReactNode) {
  const { view, desktop } = renderInWindow(page, { host });
  return {
    leave() {
      act(() => {
        navigate(overviewRoute);
      });
      view.rerender(
        <AppProviders desktop={desktop}>
          <p>Overview</p>
        </AppProviders>,
      );
    },
  };
}

function lab(): FakeHost {
  const host = new FakeHost({ jobs: [] });
  host.machines = fakeLab(host.nowMs);
  return host;
}

describe('an answer that comes after its page was left', () => {
  it('is told of a machine by its name, when it is a refusal', async () => {
    const host = lab();
    navigate(machineRoute('h100-1'));
    const { leave } = show(host, <MachinePage machineId="h100-1" tab={null} />);
    const button = await screen.findByRole('button', { name: 'Cordon' });
    host.hold();
    host.refuseNext('machine.change', refusal('STORAGE_FAILED', 'The disk is full.'));
    fireEvent.click(button);
    leave();
    host.release();
    await screen.findByText('h100-1: The disk is full.');
  });

  it('leads nobody away from where they are by then, when a job was run again', async () => {
    const host = new FakeHost({ jobs: [fakeSummary({ id: '/anna/train', state: 'SUCCEEDED' })] });
    navigate(jobRoute('/anna/train'));
    const { leave } = show(host, <JobPage jobId="/anna/train" tab="tasks" />);
    const button = await screen.findByRole('button', { name: 'Run again' });
    host.hold();
    fireEvent.click(button);
    leave();
    host.release();
    fireEvent.click(await screen.findByRole('button', { name: 'Show' }));
    await waitFor(() => {
      expect(currentRoute()).toMatchObject({ page: 'job' });
    });
  });

  it('leads to the new job who still looks at the old one', async () => {
    const host = new FakeHost({ jobs: [fakeSummary({ id: '/anna/train', state: 'SUCCEEDED' })] });
    navigate(jobRoute('/anna/train'));
    show(host, <JobPage jobId="/anna/train" tab="tasks" />);
    fireEvent.click(await screen.findByRole('button', { name: 'Run again' }));
    await waitFor(() => {
      expect(currentRoute()).not.toMatchObject({ jobId: '/anna/train' });
    });
    expect(currentRoute().page).toBe('job');
  });
});
