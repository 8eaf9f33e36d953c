import { expect, test } from 'vitest';
import { PortRange } from './ports.js';

test('each task of a gang gets its own, and when there are not enough for all nobody gets any', () => {
  const range = new PortRange();
  expect(range.allot(['http', 'rpc'], 2, [])).toEqual([
    { http: 30_000, rpc: 30_001 },
    { http: 30_002, rpc: 30_003 },
  ]);
  expect(range.allot(['http'], 10_001, [])).toBeNull();
  const all = range.allot(['http'], 10_000, []) ?? [];
  expect(new Set(all.map(({ http }) => http)).size).toBe(10_000);
  expect(range.allot([], 3, [])).toEqual([{}, {}, {}]);
});
