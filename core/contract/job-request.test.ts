import { describe, expect, test } from 'vitest';
import { isConfinedPath, parseJobRequest, type JobSpec } from './job-request.js';

const base = { command: ['python3', 'train.py'], workingDirectory: '/home/ann' };

function spec(request: Record<string, unknown>): JobSpec {
  const parsed = parseJobRequest({ ...base, ...request });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

function errors(request: unknown): { field: string; value: string; expected: string }[] {
  const parsed = parseJobRequest(request);
  if (parsed.ok) return [];
  expect(parsed.refusal.code).toBe('INVALID_ARGUMENT');
  return parsed.refusal.fields;
}

describe('when it may start and must end', () => {
  test('reads times, dependencies, holds and caps', () => {
    const read = spec({
      finishBy: '2026-12-01T08:00Z',
      startNotBefore: '8h',
      held: true,
      maxActive: '4',
      dependencies: [{ job: 'prep' }, { job: '/ann/other', on: 'failure' }],
    });
    expect(read.finishBy).toEqual({ kind: 'at', ms: Date.UTC(2026, 11, 1, 8) });
    expect(read.startNotBefore).toEqual({ kind: 'after', ms: 8 * 3_600_000 });
    expect([read.held, read.maxActive]).toEqual([true, 4]);
    expect(read.dependencies).toEqual([
      { job: 'prep', on: 'SUCCESS' },
      { job: '/ann/other', on: 'FAILURE' },
    ]);
  });

  test('names the field that is wrong', () => {
    const parsed = parseJobRequest({
      command: ['true'],
      workingDirectory: '/tmp',
      finishBy: 'tomorrow',
      dependencies: [{ job: 'a', on: 'later' }],
    });
    expect(parsed.ok ? [] : parsed.refusal.fields.map(({ field, value }) => `${field}=${value}`)).toEqual([
      'finishBy=tomorrow',
      'dependencies.0.on=later',
    ]);
  });
});

describe('defaults', () => {
  test('of everything that was not asked for', () => {
    expect(spec({})).toEqual({
      name: null,
      parent: null,
      command: ['python3', 'train.py'],
      workingDirectory: '/home/ann',
      environment: {},
      cpuMillicores: 100,
      memoryBytes: 1_000_000_000,
      memoryIsLimit: false,
      diskBytes: 5_000_000_000,
      gpuCount: 0,
      gpuVariant: null,
      replicas: 1,
      gangBy: null,
      maxRetriesFailure: 0,
      maxRetriesPreemption: 100,
      maxTaskFailures: 0,
      timeoutMs: null,
      schedulingTimeoutMs: null,
      finishBy: null,
      startNotBefore: null,
      held: false,
      dependencies: [],
      maxActive: null,
      priority: 'INHERIT',
      constraints: [],
      extras: [],
      files: [],
      ports: [],
      preemptionPolicy: 'TERMINATE_CHILDREN',
      existingJobPolicy: 'UNSPECIFIED',
      stopSignal: 'SIGTERM',
      graceMs: 30_000,
      machine: null,
      sharedGpuBytes: null,
      image: null,
      pull: 'MISSING',
      containerProfile: 'DEFAULT',
      setup: [],
      mounts: [],
      shmBytes: null,
      pidsLimit: null,
      tty: false,
      submitArgv: [],
      asked: { cpu: false, memory: false, disk: false },
    });
  });

  test('unspecified preemption policy: terminate for one task, preserve for several', () => {
    expect(spec({ replicas: 2 }).preemptionPolicy).toBe('PRESERVE_CHILDREN');
    expect(spec({ replicas: 2, preemptionPolicy: 'TERMINATE_CHILDREN' }).preemptionPolicy).toBe(
      'TERMINATE_CHILDREN',
    );
    expect(spec({ preemptionPolicy: 'PRESERVE_CHILDREN' }).preemptionPolicy).toBe('PRESERVE_CHILDREN');
  });
});

describe('units', () => {
  test.each([
    [4, 4000],
    [0.5, 500],
    ['0.5', 500],
    [' 4 ', 4000],
    [0.001, 1],
    [1.0005, 1001],
  ])('cpu %j is %i millicores', (cpu, millicores) => {
    expect(spec({ cpu })).toMatchObject({ cpuMillicores: millicores, asked: { cpu: true } });
  });

  test.each([
    ['8G', 8_000_000_000],
    ['8GB', 8_000_000_000],
    ['8GiB', 8_589_934_592],
    ['512M', 512_000_000],
    [1024, 1024],
  ])('memory %j is %i bytes, and a limit', (memory, bytes) => {
    expect(spec({ memory })).toMatchObject({
      memoryBytes: bytes,
      memoryIsLimit: true,
      asked: { memory: true },
    });
  });

  test('disk', () => {
    expect(spec({ disk: '10G' })).toMatchObject({ diskBytes: 10_000_000_000, asked: { disk: true } });
  });

  test.each([
    [90, 90_000],
    ['90', 90_000],
    ['1h30m', 5_400_000],
    [0.5, 500],
  ])('timeout %j is %i ms', (timeout, ms) => {
    expect(spec({ timeout, schedulingTimeout: timeout })).toMatchObject({
      timeoutMs: ms,
      schedulingTimeoutMs: ms,
    });
  });

  test('grace', () => {
    expect(spec({ grace: '10m' }).graceMs).toBe(600_000);
  });

  test.each(['production', 'PRODUCTION', ' Production '])('priority %j', (priority) => {
    expect(spec({ priority }).priority).toBe('PRODUCTION');
  });

  test('a number as text, as a form and a command line have it', () => {
    expect(spec({ replicas: '4', maxRetries: ' 2 ' })).toMatchObject({ replicas: 4, maxRetriesFailure: 2 });
  });
});

describe('shared GPUs', () => {
  test('with the memory a task uses of each', () => {
    expect(spec({ gpu: 1, shareGpu: true, gpuMemory: '8GB' }).sharedGpuBytes).toBe(8e9);
    expect(spec({ gpu: 1 }).sharedGpuBytes).toBeNull();
  });

  test.each([
    [{ shareGpu: true, gpuMemory: '8GB' }, 'shareGpu', 'true', 'false without a GPU asked for in gpu'],
    [
      { gpu: 1, shareGpu: true },
      'gpuMemory',
      '',
      'the memory a task uses of each GPU it shares, such as 8GB',
    ],
    [{ gpu: 1, gpuMemory: '8GiB' }, 'gpuMemory', '8 GiB', 'nothing without shareGpu'],
    [{ gpu: 1, gpuMemory: 0, shareGpu: true }, 'gpuMemory', '0', 'a size such as'],
    [{ gpu: 1, shareGpu: true, gpuMemory: '8GB', gangBy: 'rack' }, 'shareGpu', 'true', 'false for a gang'],
  ])('refuses %j', (request, field, value, expected) => {
    const [error] = errors({ ...base, ...request });
    expect(error).toMatchObject({ field, value });
    expect(error?.expected).toContain(expected);
  });
});

describe('gpu', () => {
  test.each([
    [2, 2, null],
    ['2', 2, null],
    [0, 0, null],
    ['H100', 1, 'h100'],
    ['H100x8', 8, 'h100'],
    ['a100-80gb x2', 2, 'a100-80gb'],
    ['rtx 4090', 1, 'rtx 4090'],
    ['RTX 4090x2', 2, 'rtx 4090'],
    ['rtx4090', 1, 'rtx4090'],
    ['4090x2', 2, '4090'],
    ['4090', 4090, null],
    [{ count: 2, variant: 'H100' }, 2, 'h100'],
    [{ count: 2 }, 2, null],
  ])('%j', (gpu, gpuCount, gpuVariant) => {
    expect(spec({ gpu })).toMatchObject({ gpuCount, gpuVariant });
  });

  test.each([
    ['', 'empty text'],
    [' ', ' '],
    [-1, '-1'],
    [1.5, '1.5'],
    ['1.5', '1.5'],
    ['-2', '-2'],
    ['x8', 'x8'],
    ['H100x0', 'H100x0'],
    ['!!', '!!'],
    [true, 'true'],
    [null, 'nothing'],
    [{}, '{}'],
    [{ count: 1.5 }, '{"count":1.5}'],
    [{ count: 1, variant: '' }, '{"count":1,"variant":""}'],
  ])('refuses %j', (gpu, value) => {
    const expected = 'a number of GPUs (2), a model (H100) or both (H100x8)';
    expect(errors({ ...base, gpu })).toEqual([{ field: 'gpu', value, expected }]);
  });
});

const longName = 'n'.repeat(256);
const size = 'a size such as 512M, 8G, 8GB (10^9 bytes) or 8GiB (2^30 bytes)';
const duration = 'a duration such as 90, 90s, 15m, 2h, 1h30m or 1d (a bare number is seconds), above zero';
const cores = 'a number of cores, such as 4 or 0.5';
const values = 'no value for EXISTS and NOT_EXISTS, at least one for IN, exactly one for the others';
const confined = 'a relative path that stays inside the working folder (no .., no leading /)';

describe('refuses, naming field, value and what would be right', () => {
  const one = (key: string, op: string, ...more: unknown[]) => [{ key, op, values: more }];
  test.each<[string, unknown, string, string, string]>([
    ['name', 'a/b', 'name', 'a/b', 'a name without / and control characters'],
    ['name', '', 'name', 'empty text', 'a name without / and control characters'],
    ['name', 'a\nb', 'name', 'a\nb', 'a name without / and control characters'],
    ['name', ' a', 'name', ' a', 'a name without blanks at its ends'],
    ['name', longName, 'name', `${longName.slice(0, 77)}...`, 'at most 255 characters'],
    ['name', 5, 'name', '5', 'a name'],
    ['parent', '', 'parent', 'empty text', 'the path of a job, such as /user/job'],
    ['parent', 'train', 'parent', 'train', 'the path of a job, such as /user/job'],
    ['command', [], 'command', '[]', 'a program and its arguments'],
    ['command', [' '], 'command', '[" "]', 'a program and its arguments'],
    ['command', 'true', 'command', 'true', 'a program and its arguments, as a list'],
    ['command', undefined, 'command', 'nothing', 'a program and its arguments, as a list'],
    ['command', ['a', 5], 'command.1', '5', 'text'],
    ['command', ['a\0'], 'command.0', 'a\0', 'text without NUL characters'],
    ['workingDirectory', 'here', 'workingDirectory', 'here', 'an absolute path'],
    ['workingDirectory', undefined, 'workingDirectory', 'nothing', 'an absolute path'],
    ['workingDirectory', '/a\0', 'workingDirectory', '/a\0', 'an absolute path'],
    [
      'environment',
      { '1A': 'x' },
      'environment.1A',
      'x',
      'names of letters, digits and _, not starting with a digit',
    ],
    ['environment', { A: 5 }, 'environment.A', '5', 'text (a number in quotes)'],
    ['environment', { A: 'x\0' }, 'environment.A', 'x\0', 'text without NUL characters'],
    ['environment', 'A=1', 'environment', 'A=1', 'names with their values'],
    ['cpu', 0, 'cpu', '0', cores],
    ['cpu', -1, 'cpu', '-1', cores],
    ['cpu', 'four', 'cpu', 'four', cores],
    ['cpu', '', 'cpu', 'empty text', cores],
    ['cpu', true, 'cpu', 'true', cores],
    ['cpu', null, 'cpu', 'nothing', cores],
    ['cpu', '0x10', 'cpu', '0x10', cores],
    ['cpu', Number.NaN, 'cpu', 'NaN', cores],
    ['cpu', 100_001, 'cpu', '100001', cores],
    ['memory', '8X', 'memory', '8X', size],
    ['memory', 0, 'memory', '0', size],
    ['memory', 1.5, 'memory', '1.5', size],
    ['memory', true, 'memory', 'true', size],
    ['disk', 'big', 'disk', 'big', size],
    ['replicas', 0, 'replicas', '0', 'a whole number from 1 to 10000'],
    ['replicas', 10_001, 'replicas', '10001', 'a whole number from 1 to 10000'],
    ['replicas', 1.5, 'replicas', '1.5', 'a whole number from 1 to 10000'],
    ['replicas', true, 'replicas', 'true', 'a whole number from 1 to 10000'],
    ['replicas', '', 'replicas', 'empty text', 'a whole number from 1 to 10000'],
    ['gangBy', '', 'gangBy', 'empty text', 'the name of a worker attribute'],
    ['maxRetries', -1, 'maxRetries', '-1', 'a whole number from 0 to 1000'],
    ['maxRetries', '', 'maxRetries', 'empty text', 'a whole number from 0 to 1000'],
    ['maxRetries', null, 'maxRetries', 'nothing', 'a whole number from 0 to 1000'],
    ['maxRetries', [], 'maxRetries', '[]', 'a whole number from 0 to 1000'],
    ['maxRetriesPreemption', 1001, 'maxRetriesPreemption', '1001', 'a whole number from 0 to 1000'],
    ['maxTaskFailures', 10_001, 'maxTaskFailures', '10001', 'a whole number from 0 to 10000'],
    ['timeout', 'soon', 'timeout', 'soon', duration],
    ['timeout', 0, 'timeout', '0', duration],
    ['timeout', true, 'timeout', 'true', duration],
    ['schedulingTimeout', '0s', 'schedulingTimeout', '0s', duration],
    ['priority', 'high', 'priority', 'high', 'system, production, interactive, batch or inherit'],
    ['constraints', 'x', 'constraints', 'x', 'a list of constraints'],
    ['constraints', one('', 'EXISTS'), 'constraints.0.key', 'empty text', 'the name of a worker attribute'],
    ['constraints', one('a', 'EQ'), 'constraints.0.values', '[]', values],
    ['constraints', one('a', 'EQ', 1, 2), 'constraints.0.values', '[1,2]', values],
    ['constraints', one('a', 'EXISTS', 1), 'constraints.0.values', '[1]', values],
    ['constraints', one('a', 'IN'), 'constraints.0.values', '[]', values],
    ['constraints', one('a', 'EQ', true), 'constraints.0.values.0', 'true', 'text or a number'],
    ['extras', [''], 'extras.0', 'empty text', 'the name of an extra'],
    ['files', [{ path: '../x', contentBase64: '' }], 'files.0.path', '../x', confined],
    ['files', [{ path: 'x', contentBase64: '%' }], 'files.0.contentBase64', '%', 'base64 text'],
    ['ports', ['1x'], 'ports.0', '1x', 'names of letters, digits, - and _'],
    ['preemptionPolicy', 'x', 'preemptionPolicy', 'x', 'one of TERMINATE_CHILDREN, PRESERVE_CHILDREN'],
    [
      'existingJobPolicy',
      'REPLACE',
      'existingJobPolicy',
      'REPLACE',
      'one of UNSPECIFIED, ERROR, KEEP, RECREATE',
    ],
    [
      'stopSignal',
      'SIGKILL',
      'stopSignal',
      'SIGKILL',
      'one of SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2',
    ],
    ['grace', '11m', 'grace', '11m', 'a duration of at most 10m'],
    ['grace', 0, 'grace', '0', duration],
    ['submitArgv', 'x', 'submitArgv', 'x', 'a list of arguments'],
    ['nope', 1, 'nope', '1', 'no such field'],
  ])('%s %j', (field, value, named, shown, expected) => {
    expect(errors({ ...base, [field]: value })).toEqual([{ field: named, value: shown, expected }]);
  });

  test('ports that would share a variable', () => {
    for (const ports of [
      ['web', 'WEB'],
      ['a-b', 'a_b'],
      ['a', 'a'],
    ]) {
      expect(errors({ ...base, ports })).toMatchObject([
        { field: 'ports', expected: expect.stringContaining('IRIS_PORT_') },
      ]);
    }
    expect(spec({ ports: ['web', 'api-2'] }).ports).toEqual(['web', 'api-2']);
  });

  test('bounds are counted in bytes as the system counts them', () => {
    expect(errors({ ...base, command: ['x', 'é'.repeat(65_535)] })).toMatchObject([
      { field: 'command', expected: 'at most 128 KiB in all' },
    ]);
    expect(errors({ ...base, command: ['x', 'é'.repeat(65_534)] })).toEqual([]);
    expect(errors({ ...base, command: ['x', '😀'.repeat(32_768)] }).length).toBe(1);
    expect(errors({ ...base, command: ['x', '😀'.repeat(32_766)] })).toEqual([]);
    expect(errors({ ...base, environment: { A: 'x'.repeat(256 * 1024) } })).toMatchObject([
      { field: 'environment', expected: 'at most 256 KiB in all' },
    ]);
  });

  test('each wrong field once, in the order of the schema, the first in the message', () => {
    const parsed = parseJobRequest({ workingDirectory: 'x', command: [], cpu: 0 });
    expect(parsed).toMatchObject({
      ok: false,
      refusal: {
        message: 'command: [] is not valid; expected a program and its arguments. (and 2 more)',
        fields: [{ field: 'command' }, { field: 'workingDirectory' }, { field: 'cpu' }],
      },
    });
  });

  test.each([null, 'x', 5, []])('%j is no request at all', (input) => {
    expect(errors(input)).toMatchObject([
      { field: 'request', expected: 'a job request with command and workingDirectory' },
    ]);
  });
});

test.each([
  ['a', true],
  ['a/b.txt', true],
  ['.hidden', true],
  ['..a', true],
  ['', false],
  ['/a', false],
  ['a//b', false],
  ['a/', false],
  ['.', false],
  ['a/../b', false],
  ['..', false],
  ['a\\b', false],
  ['C:x', false],
  ['a\0', false],
  ['x'.repeat(4097), false],
])('a staged path %j is confined: %s', (path, confinedTo) => {
  expect(isConfinedPath(path)).toBe(confinedTo);
});
