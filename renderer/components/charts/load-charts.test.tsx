// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { fakeLab } from '../../../test/harness/fake-lab.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { LoadCharts } from './load-charts.js';

it('asks again for the load of a run that is over until it was read, and then no more', async () => {
  const host = new FakeHost();
  const [machine] = host.machines;
  if (machine === undefined) throw new Error('no machine');
  host.refuseNext('machine.history', refusal('STORAGE_FAILED', 'The load could not be read.'));
  const span = { lastMs: null, fromMs: host.nowMs - 60_000, toMs: host.nowMs };
  renderInWindow(<LoadCharts machine={machine} span={span} paused={false} figures={['cpu']} />, { host });
  await screen.findByText('The load could not be read.');
  await screen.findByRole('img', { name: /^Processors/ });
  expect(host.callsOf('machine.history')).toHaveLength(2);
});

it('draws a card in its colour in each figure, also where others have none', async () => {
  const host = new FakeHost();
  host.machines = fakeLab(host.nowMs);
  // Of its slices and of a sick card there is no use to be had, of the slices memory.
  const machine = host.machines.find(({ id }) => id === 'h100-1');
  if (machine === undefined) throw new Error('no machine');
  const span = { lastMs: 600_000, fromMs: 0, toMs: null };
  renderInWindow(
    <LoadCharts machine={machine} span={span} paused={false} figures={['gpu-use', 'gpu-memory']} />,
    { host },
  );
  const looks = async (title: string) => {
    const chart = await screen.findByRole('figure', { name: title });
    const line = within(chart).getByText('GPU 7').previousElementSibling;
    return [
      within(chart).queryByText('GPU 5') !== null,
      (line as HTMLElement).style.borderTopColor,
      (line as HTMLElement).style.borderTopStyle,
    ];
  };
  expect(await looks('GPU use')).toEqual([false, 'var(--iris-chart-8)', 'dashed']);
  expect(await looks('GPU memory')).toEqual([true, 'var(--iris-chart-8)', 'dashed']);
});

it('draws what disks read and write in one figure', async () => {
  const host = new FakeHost();
  const [machine] = host.machines;
  if (machine === undefined) throw new Error('no machine');
  const span = { lastMs: 600_000, fromMs: 0, toMs: null };
  renderInWindow(<LoadCharts machine={machine} span={span} paused={false} figures={['cpu', 'disk']} />, {
    host,
  });
  const chart = await screen.findByRole('figure', { name: 'Disks, per second' });
  expect(within(chart).getByText('Read')).toBeTruthy();
  expect(within(chart).getByText('Written')).toBeTruthy();
});
