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

test('what a child job may ask for too is told as JSON, but nothing that would keep the task itself from starting', () => {
  const world = new World();
  const told = (values: Parameters<typeof world.submit>[0]) => {
    const id = world.submit(values);
    const made = world.tryAssign(`${id}/0`, 'w1');
    if (!made.ok) throw new Error(made.refusal.message);
    const [job, task] = [world.job(id), world.task(`${id}/0`)];
    return taskEnvironment({ job, task, attempt: made.value, homeRoot: '/home', advertiseHost: 'here' });
  };
  const small = told({ name: 'a', image: 'i', setup: ['uv sync'], environment: { A: '1' } });
  expect(small['IRIS_JOB_SETUP_SCRIPTS']).toBe('["uv sync"]');
  expect(small['IRIS_JOB_ENV']).toBe('{"A":"1"}');
  expect(small['IRIS_PYTHON']).toBe('python');
  expect(told({ name: 'c' })['IRIS_PYTHON']).toBe('python3');
  const half = 'x'.repeat(70 * 1024);
  const large = told({ name: 'b', image: 'i', environment: { A: half, B: half } });
  expect(large).not.toHaveProperty('IRIS_JOB_ENV');
  expect(large['A']).toBe(half);
});
