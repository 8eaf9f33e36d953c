// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../../core/contract/explanation.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { formatClock } from '../../strings/queue.js';
import { WaitingCallout } from './waiting-callout.js';

const nowMs = Date.now();
const summary = fakeSummary({ id: '/anna/train', state: 'PENDING', submittedAtMs: nowMs });
const need = { cpuMillicores: 4000, memoryBytes: 8 * 1024 ** 3, gpuCount: 4, gpuVariant: 'h100' };

const explained: Explanation = {
  jobId: summary.id,
  taskId: `${summary.id}/0`,
  waiting: 2,
  reasons: [
    {
      kind: 'capacity',
      need,
      possible: 3,
      best: {
        workerId: 'ws-2',
        lacks: [{ resource: 'gpu', needed: 4, free: 1, total: 8 }],
        gpusUsedByOthers: 2,
        gpusNotAnswering: 0,
        gpusKept: 0,
      },
    },
    { kind: 'demoted', user: 'anna', asked: 'INTERACTIVE', effective: 'BATCH', spend: 5200, limit: 4500 },
    { kind: 'position', band: 'BATCH', ahead: 3, users: [{ user: 'bert', tasks: 3 }] },
  ],
  message:
    'Waits for 4 GPUs: 1 of 8 is free, on ws-2. Demoted to BATCH, asked for INTERACTIVE, because anna has 5200 of 4500 in use.',
  short: 'needs 4 GPUs',
  remedies: [
    { kind: 'fewer-gpus', text: 'Ask for 1 GPU.', gpuCount: 1, gpuVariant: null, workerId: 'ws-2' },
    {
      kind: 'raise-limit',
      user: 'anna',
      limit: 5200,
      spend: 5200,
      text: 'It competes as INTERACTIVE again when anna uses no more than 4500, or with a limit of at least 5200.',
    },
  ],
  expected: {
    kind: 'at',
    startMs: nowMs + 3_600_000,
    madeAtMs: nowMs,
    text: 'Expected to start in an hour.',
    assumptions: [{ code: 'NO_NEW_WORK', text: 'Nothing more is submitted.' }],
  },
};

function show(explanation: Explanation | null) {
  const host = new FakeHost({ nowMs, jobs: [summary] });
  if (explanation !== null) host.queue.explanations.set(summary.id, explanation);
  return renderInWindow(<WaitingCallout summary={summary} tasks={[]} />, { host });
}

describe('why a job waits', () => {
  it('tells what there is, why it was demoted, when it starts by which assumptions, and what would help', async () => {
    const { view } = show(explained);
    const panel = await screen.findByRole('region', { name: 'Why it waits' });
    await within(panel).findByText(
      /^Waits for 4 GPUs: 1 of 8 is free, on ws-2\. Demoted to batch, asked for interactive, because anna has 5,200 of 4,500 in use\./,
    );
    within(panel).getByText('2 tasks wait; this is about the first.');
    within(panel).getByText(
      'Nearest is ws-2: 4 GPUs needed, 1 of 8 free. 2 of its GPUs are used by others. 3 machines could run it when empty.',
    );
    within(panel).getByText('3 tasks ahead of it in batch: bert 3.');
    const at = formatClock(nowMs + 3_600_000, nowMs);
    within(panel).getByText(new RegExp(`^Expected to start at ${at}, by known time limits\\.`));
    within(panel).getByText(/^Assumed: Nothing more is submitted\. Looked /);
    const list = within(panel).getByRole('list', { name: 'What would make it start' });
    expect(
      within(list)
        .getAllByRole('listitem')
        .map((item) => item.textContent),
    ).toEqual([
      'Ask for 1 GPU.',
      'It competes as interactive again when anna uses no more than 4,500, or with a limit of at least 5,200.',
    ]);
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('gives the short reason of the row where there is no explanation', async () => {
    show(null);
    await screen.findByText(summary.waiting?.message ?? 'a reason');
    expect(screen.queryByText('What would make it start')).toBeNull();
  });
});
