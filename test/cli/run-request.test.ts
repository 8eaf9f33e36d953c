import { describe, expect, it } from 'vitest';
import { buildRunRequest, maskValues } from '../../main/cli/run-request.js';

const caller = { folder: '/home/ada/work', environment: {}, argv: ['job', 'run', 'true'] };

function build(
  words: readonly string[],
  more: Partial<typeof caller> & { environment?: NodeJS.ProcessEnv } = {},
) {
  const result = buildRunRequest(words, { ...caller, ...more });
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}

describe('the request of job run', () => {
  it('runs in the folder of the caller unless another is named', () => {
    expect(build(['true']).request.workingDirectory).toBe('/home/ada/work');
    expect(build(['-C', '/srv', 'true']).request.workingDirectory).toBe('/srv');
  });

  it('carries two variables of the environment and no others', () => {
    const environment = { HF_TOKEN: 'hf', WANDB_API_KEY: 'wb', PATH: '/bin', SECRET: 's' };
    expect(build(['true'], { environment }).request.environment).toEqual({
      HF_TOKEN: 'hf',
      WANDB_API_KEY: 'wb',
    });
    expect(build(['-e', 'HF_TOKEN', 'mine', 'true'], { environment }).request.environment).toEqual({
      HF_TOKEN: 'mine',
      WANDB_API_KEY: 'wb',
    });
    expect(build(['true'], { environment: { HF_TOKEN: '' } }).request.environment).toEqual({});
  });

  it('is refused without a command and with a wrong value', () => {
    const none = buildRunRequest(['--cpu', '1'], caller);
    expect(none.ok ? null : none.refusal.fields).toEqual([
      { field: 'command', value: 'nothing', expected: 'a program and its arguments' },
    ]);
    const wrong = buildRunRequest(['--memory', 'lots', 'true'], caller);
    expect(wrong.ok ? '' : wrong.refusal.message).toContain('lots');
    expect(wrong.ok).toBe(false);
  });

  it('records the command line as typed', () => {
    const argv = ['--cluster=local', 'job', 'run', '--cpu=1', 'sh', '-c', 'echo'];
    expect(build(['--cpu=1', 'sh', '-c', 'echo'], { argv }).request.submitArgv).toEqual(['irisctl', ...argv]);
  });
});

describe('the recorded command line', () => {
  it.each([
    [
      ['job', 'run', '-e', 'KEY', 'secret', 'tool'],
      ['job', 'run', '-e', 'KEY', '***', 'tool'],
    ],
    [
      ['job', 'run', '-e', 'KEY=secret', 'tool'],
      ['job', 'run', '-e', 'KEY=***', 'tool'],
    ],
    [
      ['job', 'run', '--env=KEY=secret=x', 'tool'],
      ['job', 'run', '--env=KEY=***', 'tool'],
    ],
    [
      ['job', 'run', '--env=KEY', 'secret', 'tool'],
      ['job', 'run', '--env=KEY', '***', 'tool'],
    ],
    [
      ['job', 'run', '-e', 'A', 'one', '-e', 'B=two', '--', 'tool', '-e', 'C', 'kept'],
      ['job', 'run', '-e', 'A', '***', '-e', 'B=***', '--', 'tool', '-e', 'C', 'kept'],
    ],
  ])('hides values of variables in %j', (argv, expected) => {
    expect(maskValues(argv)).toEqual(expected);
  });
});
