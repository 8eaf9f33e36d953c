// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { useTopic } from '../../state/hooks.js';
import { useAllTasks } from './use-all-tasks.js';

const jobId = '/anna/wide';
const total = 1203;

function Tasks() {
  const live = useTopic('job', { jobId });
  return live.kind === 'live' ? <All tasks={live.value.tasks} /> : null;
}

function All({ tasks }: { readonly tasks: Parameters<typeof useAllTasks>[1] }) {
  const all = useAllTasks(jobId, tasks, total);
  return (
    <output>
      {all.length} {all.every((task, at) => task.index === at) ? 'whole' : 'with gaps'} {all[1202]?.state}
    </output>
  );
}

it('puts what changes into what was asked for, whichever comes first', async () => {
  const host = new FakeHost({
    jobs: [fakeSummary({ id: jobId, state: 'RUNNING', numTasks: total, taskCounts: { RUNNING: total } })],
  });
  const fail = (index: number) => {
    host.change(jobId, { failureCount: index });
    const tasks = host.tasksOf(jobId);
    const task = tasks[index];
    if (task === undefined) throw new Error('no task');
    tasks[index] = { ...task, state: 'FAILED' };
    host.publish();
  };
  renderInWindow(<Tasks />, { host });
  await screen.findByText('1203 whole RUNNING');
  expect(host.callsOf('task.list').map(({ offset }) => offset)).toEqual([500, 1000]);
  fail(1202);
  await screen.findByText('1203 whole FAILED');
  expect(host.callsOf('task.list')).toHaveLength(2);
  // After a gap in what is told the rest is asked for anew.
  host.disconnect();
  await waitFor(() => {
    expect(host.callsOf('task.list')).toHaveLength(4);
  });
  await screen.findByText('1203 whole FAILED');
});
