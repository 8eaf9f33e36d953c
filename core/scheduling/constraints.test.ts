import { describe, expect, test } from 'vitest';
import type { Constraint } from '../contract/job-request.js';
import { meetsConstraint, meetsRequired, preferenceScore, showConstraint } from './constraints.js';

const attributes = { region: ' EU-West4 ', memory: 64, chips: '8', load: 0.3 };

function constraint(key: string, op: Constraint['op'], ...values: (string | number)[]): Constraint {
  return { key, op, values, mode: 'REQUIRED' };
}

describe('operators', () => {
  test.each<[string, Constraint['op'], (string | number)[], boolean]>([
    ['region', 'EQ', ['eu-west4'], true],
    ['region', 'EQ', ['us'], false],
    ['region', 'NE', ['us'], true],
    ['region', 'NE', ['EU-WEST4'], false],
    ['region', 'EXISTS', [], true],
    ['region', 'NOT_EXISTS', [], false],
    ['region', 'IN', ['us', 'eu-west4 '], true],
    ['region', 'IN', ['us', 'asia'], false],
    ['memory', 'EQ', [64], true],
    ['memory', 'EQ', ['64'], true],
    ['chips', 'EQ', [8], true],
    ['memory', 'GE', [64], true],
    ['memory', 'GT', [64], false],
    ['memory', 'LE', ['64'], true],
    ['memory', 'LT', [64], false],
    ['chips', 'GT', [7.5], true],
    ['load', 'LT', [0.5], true],
    ['load', 'LT', [0.3], false],
    ['region', 'GT', [1], false],
    ['memory', 'LT', ['much'], false],
    ['zone', 'EQ', ['a'], false],
    ['zone', 'NE', ['a'], false],
    ['zone', 'GT', [1], false],
    ['zone', 'IN', ['a'], false],
    ['zone', 'EXISTS', [], false],
    ['zone', 'NOT_EXISTS', [], true],
    ['constructor', 'EXISTS', [], false],
  ])('%s %s %j: %s', (key, op, values, holds) => {
    expect(meetsConstraint(constraint(key, op, ...values), attributes)).toBe(holds);
  });
});

test('all required ones must hold; preferred ones only count', () => {
  const required = constraint('region', 'EQ', 'eu-west4');
  const wrong = constraint('memory', 'GT', 100);
  const wish: Constraint = { ...wrong, mode: 'PREFERRED' };
  expect(meetsRequired([required], attributes)).toBe(true);
  expect(meetsRequired([required, wrong], attributes)).toBe(false);
  expect(meetsRequired([required, wish], attributes)).toBe(true);
  expect(preferenceScore([required, wish, { ...required, mode: 'PREFERRED' }], attributes)).toBe(1);
});

test.each<[Constraint, string]>([
  [constraint('region', 'EQ', 'eu'), 'region = "eu"'],
  [constraint('memory', 'GE', 64), 'memory >= 64'],
  [constraint('region', 'IN', 'eu', 'us'), 'region among "eu", "us"'],
  [constraint('tpu', 'EXISTS'), 'attribute tpu'],
  [constraint('tpu', 'NOT_EXISTS'), 'no attribute tpu'],
  [constraint('region', 'NE', 'eu'), 'region other than "eu"'],
])('in words: %j', (value, text) => {
  expect(showConstraint(value)).toBe(text);
});
