/** What a job may wait for, as its submission finds it. */
import { describe, expect, test } from 'vitest';
import { jobLimits, parseJobRequest } from '../contract/job-request.js';
import { World } from './test-world.js';

function dependenciesOf(world: World, id: string): unknown {
  return world.state.job(id)?.spec.dependencies;
}

describe('dependencies', () => {
  test('a name is the newest of that name at the time, also of one that is over', () => {
    const world = new World();
    const first = world.submit({ name: 'prep' });
    world.observe(world.run(`${first}/0`), 'SUCCEEDED');
    const second = world.submit({ name: 'prep' });
    const waits = world.submit({ name: 'waits', dependencies: [{ job: 'prep' }, { job: first, on: 'END' }] });
    world.submit({ name: 'prep-later' });
    expect(dependenciesOf(world, waits)).toEqual([
      { job: second, on: 'SUCCESS' },
      { job: first, on: 'END' },
    ]);
  });

  test('a job that is not there is refused by its place in the list, and nothing is made', () => {
    const world = new World();
    world.submit({ name: 'prep' });
    const refused = world.trySubmit({ name: 'waits', dependencies: [{ job: 'prep' }, { job: '/ann/none' }] });
    expect(refused).toMatchObject({
      ok: false,
      refusal: {
        code: 'FAILED_PRECONDITION',
        message: 'dependencies.1.job: there is no job /ann/none to wait for.',
        fields: [{ field: 'dependencies.1.job', value: '/ann/none' }],
      },
    });
    expect(world.state.job('/ann/waits')).toBeUndefined();
  });

  test('waiting for a job above itself would be a circle', () => {
    const world = new World();
    const root = world.submit({ name: 'root' });
    const child = world.submit({ name: 'child', parent: root });
    for (const job of [root, child]) {
      expect(world.trySubmit({ name: 'leaf', parent: child, dependencies: [{ job }] })).toMatchObject({
        ok: false,
        refusal: { code: 'FAILED_PRECONDITION', fields: [{ field: 'dependencies.0.job', value: job }] },
      });
    }
    expect(world.trySubmit({ name: 'leaf', parent: root, dependencies: [{ job: child }] }).ok).toBe(true);
  });

  test('a refused submission leaves the run of its name that it would have replaced', () => {
    const world = new World();
    const before = world.submit({ name: 'train' });
    const again = { name: 'train', existingJobPolicy: 'RECREATE', dependencies: [{ job: 'none' }] } as const;
    expect(world.trySubmit({ ...again, dependencies: [...again.dependencies] }).ok).toBe(false);
    expect(world.state.job(before)?.state).toBe('PENDING');
  });

  test('there may be a hundred', () => {
    const request = (count: number) =>
      parseJobRequest({
        command: ['true'],
        workingDirectory: '/tmp',
        dependencies: Array.from({ length: count }, (_, at) => ({ job: `j${at}` })),
      });
    expect(request(jobLimits.maxDependencies).ok).toBe(true);
    const over = request(jobLimits.maxDependencies + 1);
    expect(over).toMatchObject({
      ok: false,
      refusal: { fields: [{ field: 'dependencies', expected: 'at most 100 jobs' }] },
    });
  });
});
