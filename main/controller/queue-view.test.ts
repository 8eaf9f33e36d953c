/** The queue as it is shown: the first two hundred jobs of a band, and how many there are. */
import { expect, it } from 'vitest';
import { World } from '../../core/model/test-world.js';
import { Placement } from './placement.js';
import { queueView } from './queue-view.js';

it('shows the first 200 jobs of a band in their order, and counts the others', () => {
  const world = new World();
  const ids = Array.from({ length: 203 }, (_, at) => world.submit({ name: `job-${at}` }));
  const batch = world.submit({ name: 'batch', priority: 'BATCH' });
  const placement = new Placement(world.state);
  placement.load([]);
  const bands = new Map(
    queueView(world.state, placement, world.nowMs).bands.map(({ band, total, jobs }) => [
      band,
      { total, jobs: jobs.map(({ jobId }) => jobId) },
    ]),
  );
  expect(bands.get('INTERACTIVE')).toEqual({ total: 203, jobs: ids.slice(0, 200) });
  expect(bands.get('BATCH')).toEqual({ total: 1, jobs: [batch] });
});
