import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result } from './errors.js';
import { parseJobRequest, type JobRequest } from './job-request.js';
import { requestToYaml, specToRequest, yamlToRequest } from './job-yaml.js';

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
function message(result: Result<unknown>): string {
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
  return result.refusal.message;
}

const full: JobRequest = {
  name: 'train',
  command: ['python', 'train.py', '--lr', '1e-4', '--flag', 'true', 'a: b', ''],
  workingDirectory: '/home/ann/run',
  environment: { SEED: '007', EMPTY: '', YES: 'yes' },
  cpu: 4,
  memory: '8G',
  disk: '20GiB',
  gpu: 'h100x2',
  replicas: 3,
  maxRetries: 2,
  timeout: '2h',
  schedulingTimeout: '1d',
  finishBy: '2026-12-01T08:00:00.000Z',
  startNotBefore: '8h',
  held: true,
  dependencies: [{ job: 'prep' }, { job: '/ann/other', on: 'END' }],
  maxActive: 3,
  priority: 'BATCH',
  constraints: [{ key: 'zone', op: 'IN', values: ['a', 'b'], mode: 'REQUIRED' }],
  extras: ['cpu'],
  ports: ['http'],
  files: [{ path: 'conf/a.json', contentBase64: 'e30=' }],
  gangBy: 'rack',
  stopSignal: 'SIGINT',
  grace: '5s',
};

it('shared GPUs come back from a stored specification', () => {
  const stored = value(
    parseJobRequest({ command: ['x'], workingDirectory: '/w', gpu: 1, shareGpu: true, gpuMemory: '8GiB' }),
  );
  const request = value(yamlToRequest(requestToYaml(specToRequest(stored))));
  expect(request).toMatchObject({ shareGpu: true, gpuMemory: '8GiB' });
  expect(value(parseJobRequest(request)).sharedGpuBytes).toBe(8 * 2 ** 30);
});

describe('requestToYaml', () => {
  it('writes what differs from the defaults, in the order of the schema', () => {
    expect(
      requestToYaml({
        workingDirectory: '/w',
        command: ['python', 'train.py', '--lr', '1e-4'],
        cpu: 4,
        memory: '8G',
        replicas: 1,
        extras: [],
      }),
    ).toBe(
      [
        'command:',
        '  - python',
        '  - train.py',
        '  - --lr',
        '  - "1e-4"',
        'workingDirectory: /w',
        'cpu: 4',
        'memory: 8G',
        '',
      ].join('\n'),
    );
  });

  it('reads back to the same request', () => {
    expect(value(yamlToRequest(requestToYaml(full)))).toEqual(full);
  });

  it('keeps any word of a command and any variable', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((word) => !word.includes('\0'));
    fc.assert(
      fc.property(
        fc.array(text),
        fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), text),
        (words, environment) => {
          const request = { command: ['x', ...words], workingDirectory: '/w', environment };
          const read = value(yamlToRequest(requestToYaml(request)));
          expect(read.command).toEqual(request.command);
          expect(read.environment ?? {}).toEqual(environment);
        },
      ),
    );
  });
});

describe('yamlToRequest', () => {
  it('leaves words as written that YAML would take for numbers, truth values or nothing', () => {
    const read = value(
      yamlToRequest(
        'command: [python, t.py, 1e-4, 010, true, 0x1F]\nworkingDirectory: /w\nenvironment:\n  SEED: 007\n  ON: yes\n  N: null\n  E:\n',
      ),
    );
    expect(read.command).toEqual(['python', 't.py', '1e-4', '010', 'true', '0x1F']);
    expect(read.environment).toEqual({ SEED: '007', ON: 'yes', N: 'null', E: '' });
  });

  it('takes a command in one line of text', () => {
    expect(
      value(yamlToRequest('command: python train.py --note "a b"\nworkingDirectory: /w\n')).command,
    ).toEqual(['python', 'train.py', '--note', 'a b']);
  });

  it.each<[string, string]>([
    ['command: [a\nworkingDirectory: /w', 'Line 2, column 1: '],
    ['- a', 'The YAML is no job: expected fields such as command: and workingDirectory:.'],
    ['', 'The YAML is no job'],
    [
      'command: [a]\nworkingDirectory: /w\nmemroy: 8G\n',
      'Line 3: memroy: 8G is not valid; expected a field of a job (did you mean memory?).',
    ],
    [
      'command: [a]\nworkingDirectory: /w\nmemory: 8X\n',
      'Line 3: memory: 8X is not valid; expected a size such as',
    ],
    [
      'command: [a]\nworkingDirectory: w\n',
      'Line 2: workingDirectory: w is not valid; expected an absolute path.',
    ],
    ['command: [a]\nworkingDirectory: /w\nenvironment:\n  A: 1\n  1B: 2\n', 'Line 5: environment.1B'],
    [
      'command: [a]\nworkingDirectory: /w\nmemory: 1G\nmemory: 2G\n',
      'Line 4, column 1: Map keys must be unique',
    ],
    [
      'command: [a]\nworkingDirectory: /w\nconstraints:\n  - {key: a, op: EQ}\n',
      'Line 4: constraints.0.values',
    ],
  ])('refuses %j', (text, expected) => {
    expect(message(yamlToRequest(text))).toContain(expected);
  });

  it('lets a draft have wrong values, but no structure a form cannot show', () => {
    const draft = value(yamlToRequest('command: []\nmemory: 8X\ncpu: many\n', { draft: true }));
    expect(draft).toEqual({ command: [], workingDirectory: '', memory: '8X', cpu: 'many' });
    expect(message(yamlToRequest('command: [a]\nmemory: [1]\n', { draft: true }))).toContain(
      'Line 2: memory: [1] is not valid',
    );
    expect(message(yamlToRequest('command: [a]\nhello: 1\n', { draft: true }))).toContain(
      'hello: 1 is not valid',
    );
    expect(message(yamlToRequest('command: {a: 1}\n', { draft: true }))).toContain('command');
  });
});

describe('specToRequest', () => {
  it('gives a request that makes the same specification', () => {
    for (const request of [
      full,
      { command: ['true'], workingDirectory: '/w' },
      { command: ['x'], workingDirectory: '/w', gpu: { count: 2, variant: 'x' } },
    ]) {
      const spec = value(parseJobRequest(request));
      expect(value(parseJobRequest(specToRequest(spec)))).toEqual(spec);
    }
  });

  it('writes only what was asked for', () => {
    expect(specToRequest(value(parseJobRequest({ command: ['true'], workingDirectory: '/w' })))).toEqual({
      command: ['true'],
      workingDirectory: '/w',
    });
    expect(specToRequest(value(parseJobRequest(full)))).toMatchObject({
      memory: '8G',
      disk: '20GiB',
      timeout: '2h',
      gpu: 'h100x2',
      cpu: 4,
    });
  });
});
