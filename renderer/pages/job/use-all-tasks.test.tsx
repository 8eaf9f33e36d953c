// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import type { TaskView } from '../../../core/contract/views.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { useTopic } from '../../state/hooks.js';
import { useAllTasks, type LiveTasks } from './use-all-tasks.js';

const jobId = '/anna/wide';
const total = 1203;

function Page() {
  const [open, setOpen] = useState(true);
  return (
    <>
      <button onClick={() => setOpen(!open)}>{open ? 'Leave' : 'Come back'}</button>
      {open ? <Tasks /> : null}
    </>
  );
}

function Tasks() {
  const live = useTopic('job', { jobId });
  return live.kind === 'live' ? <All live={{ tasks: live.value.tasks, snapshots: live.snapshots }} /> : null;
}

function All({ live }: { readonly live: LiveTasks }) {
  const all = useAllTasks(jobId, live, total);
  return (
    <output>
      {all.length} {all.every((task, at) => task.index === at) ? 'whole' : 'with gaps'} {all[1202]?.state}
    </output>
  );
}

const wideJob = () =>
  new FakeHost({
    jobs: [fakeSummary({ id: jobId, state: 'RUNNING', numTasks: total, taskCounts: { RUNNING: total } })],
  });

/** Without telling anybody. */
function change(host: FakeHost, index: number, state: TaskView['state']): void {
  const tasks = host.tasksOf(jobId);
  const task = tasks[index];
  if (task === undefined) throw new Error('no task');
  tasks[index] = { ...task, state };
}

it('puts what changes into what was asked for, whichever comes first', async () => {
  const host = wideJob();
  const fail = (index: number) => {
    host.change(jobId, { failureCount: index });
    change(host, index, 'FAILED');
    host.publish();
  };
  renderInWindow(<Page />, { host });
  await screen.findByText('1203 whole RUNNING');
  expect(host.callsOf('task.list').map(({ offset }) => offset)).toEqual([500, 1000]);
  fail(1202);
  await screen.findByText('1203 whole FAILED');
  expect(host.callsOf('task.list')).toHaveLength(2);
});

/** Lets the job be told whole on the standing connection, as where it fell too far behind. */
function tellsWhole(host: FakeHost): () => void {
  const { connect } = host.bridge;
  let tell = (): void => undefined;
  vi.spyOn(host.bridge, 'connect').mockImplementation((onFrame, onClosed) => {
    const port = connect(onFrame, onClosed);
    return {
      close: port.close,
      send(frame) {
        if (frame.kind === 'subscribe' && frame.topic === 'job') {
          const { id } = frame;
          tell = () => {
            const value = { summary: host.jobs.get(jobId), tasks: host.tasksOf(jobId).slice(0, 500) };
            onFrame(JSON.stringify({ kind: 'snapshot', id, value }));
          };
        }
        port.send(frame);
      },
    };
  });
  return () => {
    tell();
  };
}

it('asks for the rest anew after each gap in what is told', async () => {
  const host = wideJob();
  const tellWhole = tellsWhole(host);
  renderInWindow(<Page />, { host });
  await screen.findByText('1203 whole RUNNING');
  change(host, 1202, 'PREEMPTED');
  host.disconnect();
  await screen.findByText('1203 whole PREEMPTED');
  // More changed at once than is told one by one.
  change(host, 1202, 'KILLED');
  act(tellWhole);
  await screen.findByText('1203 whole KILLED');
  fireEvent.click(screen.getByRole('button', { name: 'Leave' }));
  change(host, 1202, 'SUCCEEDED');
  fireEvent.click(screen.getByRole('button', { name: 'Come back' }));
  await screen.findByText('1203 whole SUCCEEDED');
});
