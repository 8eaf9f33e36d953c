import { describe, expect, it } from 'vitest';
import { splitArguments } from '../../main/cli/arguments.js';

function split(line: readonly string[]) {
  const result = splitArguments(line);
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}

function refused(line: readonly string[]) {
  const result = splitArguments(line);
  return result.ok ? 'accepted' : result.refusal.message;
}

describe('global flags', () => {
  it('are taken before the subcommand, as the original has them', () => {
    const value = split([
      '--cluster=local',
      'job',
      'run',
      '--cpu=4',
      '--memory=8G',
      '--extra=cpu',
      'python',
      'train.py',
    ]);
    expect(value).toMatchObject({
      kind: 'run',
      globals: { cluster: 'local', json: false },
      words: ['--cpu=4', '--memory=8G', '--extra=cpu', 'python', 'train.py'],
    });
  });

  it('are taken between and after the words of a subcommand', () => {
    expect(split(['job', '--home', '/data', 'list', '--json', '--state', 'failed'])).toEqual({
      kind: 'other',
      globals: { home: '/data', cluster: undefined, json: true, verbose: false, traceback: false },
      words: ['job', 'list', '--state', 'failed'],
    });
  });

  it('are taken among the flags of job run and left in the command', () => {
    expect(
      split(['job', 'run', '--json', '--cpu', '1', '--home=/d', 'tool', '--json', '--home', 'x']),
    ).toMatchObject({
      globals: { json: true, home: '/d' },
      words: ['--cpu', '1', 'tool', '--json', '--home', 'x'],
    });
    expect(split(['job', 'run', '--', '--json'])).toMatchObject({
      globals: { json: false },
      words: ['--', '--json'],
    });
  });

  it('are not taken from the value of another flag', () => {
    expect(split(['job', 'run', '--job-name', '--json', 'tool'])).toMatchObject({
      globals: { json: false },
      words: ['--job-name', '--json', 'tool'],
    });
    expect(split(['job', 'run', '-e', 'KEY', '-v', '--cpu', '1', 'tool'])).toMatchObject({
      globals: { verbose: false },
      words: ['-e', 'KEY', '-v', '--cpu', '1', 'tool'],
    });
  });

  it('leave a missing value for the flag parser to refuse', () => {
    expect(split(['job', 'run', '-e', 'KEY', '--cpu', '1', '--json', 'tool'])).toMatchObject({
      globals: { json: true },
      words: ['-e', 'KEY', '--cpu', '1', 'tool'],
    });
    expect(split(['job', 'run', '--cpu', '--', 'tool'])).toMatchObject({ words: ['--cpu', '--', 'tool'] });
  });

  it('name what is wrong with them', () => {
    expect(refused(['--home'])).toBe('--home needs a value (--home FOLDER), but nothing follows.');
    expect(refused(['--cluster', '--json', 'status'])).toBe(
      '--cluster needs a value (--cluster NAME), but --json follows.',
    );
    expect(refused(['--json=yes', 'status'])).toBe('--json takes no value, but has yes.');
    expect(refused(['--controller-url', 'http://x', 'status'])).toContain('--home');
  });
});

describe('flags of job run that are about its output', () => {
  it('are taken out of the words', () => {
    expect(split(['job', 'run', '--prefix', 'tool', '--prefix'])).toMatchObject({
      prefix: true,
      words: ['tool', '--prefix'],
    });
    expect(split(['job', 'run', '--no-prefix', 'tool'])).toMatchObject({ prefix: false, words: ['tool'] });
    expect(split(['job', 'run', 'tool'])).toMatchObject({ prefix: null });
  });

  it('find a wish for help only before the command', () => {
    expect(split(['job', 'run', '--help'])).toMatchObject({ help: true });
    expect(split(['job', 'run', 'tool', '--help'])).toMatchObject({ help: false, words: ['tool', '--help'] });
  });
});
