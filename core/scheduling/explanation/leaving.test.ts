/** What a gang waits for that gets its places when others have left some of its machines. */
import { expect, test } from 'vitest';
import { TestCluster, waitsOf, worker } from '../test-cluster.js';
import { reasonsOf } from './reasons.js';
import { sentenceOf } from './words.js';

const racks = ['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } }));
const gang = { cpu: 4, tasks: 2, gangBy: 'rack', band: 'PRODUCTION' } as const;

function sentences(world: TestCluster, jobId: string): string[] {
  const entry = world.cluster.queue.jobs.get(jobId);
  if (entry === undefined) throw new Error(`${jobId} does not wait`);
  const context = {
    cluster: world.cluster,
    decision: world.decide(),
    rules: world.rules,
    nowMs: world.nowMs,
  };
  return [0, 1].flatMap((index) => reasonsOf(context, entry, index).slice(0, 1)).map(sentenceOf);
}

test('what is leaving by itself, on the machine that it leaves', () => {
  const world = new TestCluster(racks);
  world.run('/bob/ends', 'w2', { cpu: 4, state: 'ENDING' });
  world.submit('/ann/gang', gang);
  expect(waitsOf(world.round())).toEqual(['/ann/gang leaving']);
  const sentence = 'Starts on w2; waits until /bob/ends/0 has left.';
  expect(sentences(world, '/ann/gang')).toEqual([sentence, sentence]);
});

test('what was told to leave for one member is what each of them waits for', () => {
  const world = new TestCluster(racks);
  world.run('/bob/batch', 'w2', { cpu: 4, band: 'BATCH' });
  world.submit('/ann/gang', gang);
  world.round();
  expect(sentences(world, '/ann/gang')).toEqual([
    'Starts on w1; waits until /bob/batch/0 has left.',
    'Starts on w2; waits until /bob/batch/0 has left.',
  ]);
});
