import { describe, expect, test } from 'vitest';
import {
  attemptNameOf,
  checkNamePart,
  generatedName,
  nameKey,
  parseName,
  suffixedName,
  taskIdOf,
} from './names.js';

describe('parseName', () => {
  test('two parts are a job, even when the last is all digits', () => {
    expect(parseName('/ann/train')).toEqual({ ok: true, value: { kind: 'job', jobId: '/ann/train' } });
    expect(parseName('/ann/3')).toEqual({ ok: true, value: { kind: 'job', jobId: '/ann/3' } });
  });

  test('three or more parts with digits at the end are a task', () => {
    expect(parseName('/ann/train/eval/12')).toEqual({
      ok: true,
      value: { kind: 'task', jobId: '/ann/train/eval', taskId: '/ann/train/eval/12', index: 12 },
    });
    expect(parseName('/ann/3/0')).toMatchObject({ value: { kind: 'task', jobId: '/ann/3', index: 0 } });
  });

  test('a colon and a number add the attempt', () => {
    expect(parseName('/user/job/0:2')).toEqual({
      ok: true,
      value: { kind: 'attempt', jobId: '/user/job', taskId: '/user/job/0', index: 0, number: 2 },
    });
  });

  test('what is formatted is read back', () => {
    expect(parseName(attemptNameOf(taskIdOf('/ann/train', 4), 11))).toEqual({
      ok: true,
      value: { kind: 'attempt', jobId: '/ann/train', taskId: '/ann/train/4', index: 4, number: 11 },
    });
  });

  test('a child job is not a task', () => {
    expect(parseName('/ann/train/eval')).toMatchObject({ value: { kind: 'job', jobId: '/ann/train/eval' } });
  });

  test.each(['', 'train', '/ann', '/ann/', '//train', '/ann/ /x', '/'])(
    'refuses %j, naming it and the form',
    (text) => {
      const result = parseName(text);
      expect(result).toMatchObject({ ok: false, refusal: { code: 'INVALID_ARGUMENT' } });
      if (!result.ok) expect(result.refusal.message).toContain('/user/job/0:2');
    },
  );
});

describe('checkNamePart', () => {
  test.each(['a/b', ' ', '', 'x ', ' x', 'a\nb', 'a\0b', 'n'.repeat(256)])('refuses %j', (name) => {
    expect(checkNamePart('name', name, false)).toMatchObject({
      ok: false,
      refusal: { code: 'INVALID_ARGUMENT' },
    });
  });

  test.each(['train', 'my run', 'größe', '実験', 'a:b', 'n'.repeat(255)])('accepts %j', (name) => {
    expect(checkNamePart('name', name, true)).toEqual({ ok: true, value: name });
  });

  test.each(['3', '007', '0:2'])(
    'refuses the child name %s, which would read as a task or an attempt',
    (name) => {
      const result = checkNamePart('name', name, true);
      expect(result).toMatchObject({ ok: false, refusal: { fields: [{ field: 'name', value: name }] } });
      if (!result.ok) expect(result.refusal.message).toContain('names a task of the parent');
      expect(checkNamePart('name', name, false).ok).toBe(true);
    },
  );
});

describe('generated names', () => {
  test('program without its folder, cleaned, with the suffix', () => {
    expect(generatedName(['/usr/bin/python3', 'train.py'], 'k3x9qa')).toBe('iris-run-python3-k3x9qa');
    expect(generatedName(['C:\\tools\\run me!.exe'], 'abc')).toBe('iris-run-run-me-.exe-abc');
    expect(generatedName(['...'], 'abc')).toBe('iris-run-job-abc');
    expect(generatedName(['実験'], 'abc')).toBe('iris-run-job-abc');
    expect(generatedName(['x'.repeat(300)], 'abc')).toBe(`iris-run-${'x'.repeat(40)}-abc`);
  });

  test('a suffixed name never grows beyond a valid part, and never ends in half a character', () => {
    expect(suffixedName('four', 'ab12', 1)).toBe('four-ab12');
    expect(suffixedName('four', 'ab12', 3)).toBe('four-ab12-3');
    const long = suffixedName('😀'.repeat(127), 'abcd', 1);
    expect(long.length).toBeLessThanOrEqual(255);
    expect(checkNamePart('name', long, true).ok).toBe(true);
    expect(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(long)).toBe(false);
  });

  test('names are the same whatever their case', () => {
    expect(nameKey('ann', null, 'Four')).toBe(nameKey('ann', null, 'four'));
    expect(nameKey('ann', '/ann/a', 'four')).not.toBe(nameKey('ann', null, 'four'));
    expect(taskIdOf('/ann/Four', 3)).toBe('/ann/Four/3');
  });
});
