import { expect, test } from 'vitest';
import { World } from '../../core/model/test-world.js';
import { taskEnvironment } from './environment.js';

test('of a number that is a model a task is told the one card it was given', () => {
  const world = new World();
  const id = world.submit({ name: 'a', gpu: '4090' });
  const made = world.tryAssign(`${id}/0`, 'w1', { devices: ['GPU-a'] });
  if (!made.ok) throw new Error(made.refusal.message);
  const { IRIS_TASK_RESOURCES: told = '' } = taskEnvironment({
    job: world.job(id),
    task: world.task(`${id}/0`),
    attempt: made.value,
    homeRoot: '/home',
    advertiseHost: 'here',
  });
  expect(JSON.parse(told)).toMatchObject({ gpu_count: 1 });
});
