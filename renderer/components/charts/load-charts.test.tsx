// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
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
