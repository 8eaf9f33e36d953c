import { describe, expect, test } from 'vitest';
import { World } from '../../core/model/test-world.js';
import { decideBatch, type Command, type TargetResult } from './round.js';

const owner = { user: 'ann', mayManage: true };

function round(world: World, ...commands: Command[]) {
  let suffixes = 0;
  const { changes, answers } = decideBatch(world.state, {
    nowMs: world.nowMs,
    observations: [],
    commands,
    fresh: { uid: () => 'u', suffix: () => `again${(suffixes += 1)}` },
    elapsed: (_, sinceMs) => world.nowMs - sinceMs,
    waitingCause: () => null,
    ranksBeside: () => [],
  });
  world.commit(changes);
  return answers;
}

describe('running a job again that was submitted held', () => {
  const retry = (jobId: string): Command => ({ kind: 'retry', requestId: 'r', user: 'ann', jobIds: [jobId] });
  const released = (jobId: string): Command => ({
    kind: 'change',
    requestId: 'c',
    identity: owner,
    jobIds: [jobId],
    change: { kind: 'release' },
  });

  test.each([
    ['released since: it is not held again', true, false],
    ['never released: it is held as before', false, true],
  ])('%s', (_, release, held) => {
    const world = new World();
    const jobId = world.submit({ name: 'a', held: true });
    if (release) round(world, released(jobId));
    world.cancel(jobId);
    const [answer] = round(world, retry(jobId));
    const made = answer?.ok === true ? (answer.value as TargetResult[]) : [];
    expect(made).toEqual([{ id: jobId, newId: '/ann/a-again1', refusal: null }]);
    expect(world.job('/ann/a-again1')).toMatchObject({ held, retryOf: jobId, spec: { held } });
  });
});
