// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { parseJobRequest, type JobRequest } from '../../../core/contract/job-request.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { JobPage } from './job-page.js';

const nowMs = Date.now();

function hostWith(request: Partial<JobRequest>, part: object = {}): FakeHost {
  const host = new FakeHost({
    nowMs,
    jobs: [
      fakeSummary({
        id: '/anna/train',
        state: 'PENDING',
        submittedAtMs: nowMs,
        taskCounts: { PENDING: 1 },
        ...part,
      }),
    ],
  });
  const spec = parseJobRequest({ command: ['true'], workingDirectory: '/w', ...request });
  if (!spec.ok) throw new Error(spec.refusal.message);
  host.specs.set('/anna/train', spec.value);
  return host;
}

const show = (host: FakeHost) => renderInWindow(<JobPage jobId="/anna/train" tab={null} />, { host });
const menu = async (name: string) => {
  fireEvent.click(await screen.findByRole('button', { name: 'More actions' }));
  fireEvent.click(await screen.findByRole('menuitem', { name, hidden: true }));
};

describe('what a job waits for', () => {
  it('shows that it is held, the jobs it comes after and its times', async () => {
    const { view } = show(
      hostWith(
        {
          dependencies: [{ job: '/anna/prep' }, { job: 'check', on: 'END' }],
          startNotBefore: '2h',
          finishBy: '9h',
        },
        { held: true },
      ),
    );
    await screen.findByText('Held');
    expect(screen.getByRole('link', { name: 'prep' }).closest('span')?.textContent).toBe(
      'After prep has succeeded',
    );
    expect(screen.getByRole('link', { name: 'prep' }).getAttribute('href')).toBe('#/job/%2Fanna%2Fprep');
    expect(screen.getByRole('link', { name: 'check' }).closest('span')?.textContent).toBe(
      'After check has ended',
    );
    const timeOf = (text: RegExp) => screen.getByText(text).querySelector('time')?.dateTime;
    expect(timeOf(/^Starts no earlier than/)).toBe(new Date(nowMs + 2 * 3_600_000).toISOString());
    expect(timeOf(/^Must end by/)).toBe(new Date(nowMs + 9 * 3_600_000).toISOString());
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('says none of it of a job that waits for nothing but room', async () => {
    show(hostWith({}));
    await screen.findByRole('heading', { name: 'train' });
    expect(screen.queryByText('Held')).toBeNull();
    expect(screen.queryByText(/^Must end by|^Starts no earlier|^After/)).toBeNull();
  });

  it('holds and releases from its menu', async () => {
    const host = hostWith({});
    show(host);
    await menu('Hold');
    await screen.findByText('Held');
    await menu('Release');
    await waitFor(() => {
      expect(screen.queryByText('Held')).toBeNull();
    });
    expect(host.callsOf('job.change').map((call) => call.change)).toEqual([
      { kind: 'hold' },
      { kind: 'release' },
    ]);
  });

  it('tells a refusal below its name', async () => {
    const host = hostWith({}, { id: '/bert/train', user: 'bert' });
    host.specs.set('/bert/train', host.specs.get('/anna/train') ?? neverSpec());
    renderInWindow(<JobPage jobId="/bert/train" tab={null} />, { host });
    await menu('To front');
    await waitFor(() => {
      expect(host.callsOf('job.change')).toHaveLength(1);
    });
    host.budgets.mayManage = false;
    await menu('To back');
    expect((await screen.findByRole('alert')).textContent).toBe('Not changed. train belongs to bert.');
  });
});

function neverSpec(): never {
  throw new Error('no specification');
}

describe('a lower band than asked for', () => {
  const demoted = {
    requested: 'INTERACTIVE',
    effective: 'BATCH',
    user: 'anna',
    spend: 8120,
    limit: 8000,
    atMs: nowMs,
  };

  it('is told of a running job with the numbers of its placement', async () => {
    const running = { state: 'RUNNING', startedAtMs: nowMs, taskCounts: { RUNNING: 1 }, demoted };
    const host = hostWith({}, running);
    const { view } = renderInWindow(<JobPage jobId="/anna/train" tab="details" />, { host });
    await screen.findByText(
      'Demoted to batch, asked for interactive, because anna had 8,120 of 8,000 in use when it was placed.',
    );
    expect(await findViolations(view.container)).toEqual([]);
  });
});
