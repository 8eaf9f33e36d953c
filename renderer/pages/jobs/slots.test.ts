import { describe, expect, it } from 'vitest';
import { createSlots } from './slots.js';

function filled(count: number) {
  const slots = createSlots(3);
  for (let index = 0; index < count; index += 1) slots.set(index, `j${index}`);
  return slots;
}

describe('slots', () => {
  it('knows what was set and nothing else', () => {
    const slots = filled(2);
    slots.set(100_000, 'far');
    expect([0, 1, 2, 99_999, 100_000].map(slots.at)).toEqual(['j0', 'j1', undefined, undefined, 'far']);
    slots.set(1, undefined);
    expect(slots.at(1)).toBeUndefined();
  });

  it('gives snapshots that later changes do not reach', () => {
    const slots = filled(7);
    const before = slots.snapshot();
    slots.set(1, 'other');
    slots.set(1, 'another');
    slots.set(7, 'new');
    slots.forget(1);
    expect([0, 1, 2, 3, 7].map(before.at)).toEqual(['j0', 'j1', 'j2', 'j3', undefined]);
    expect([0, 1, 2, 3, 7].map(slots.snapshot().at)).toEqual(['j0', 'another', 'j2', undefined, 'new']);
    slots.clear();
    expect(before.at(0)).toBe('j0');
    expect(slots.at(0)).toBeUndefined();
  });

  it('says which ids it forgets', () => {
    const slots = filled(8);
    expect(slots.forget(0)).toEqual(['j0', 'j1', 'j2']);
    expect(slots.forget(0)).toEqual([]);
    const before = slots.snapshot();
    expect([...slots.cut(4)].sort()).toEqual(['j4', 'j5', 'j6', 'j7']);
    expect([3, 4, 6].map(slots.at)).toEqual(['j3', undefined, undefined]);
    expect(slots.cut(4)).toEqual([]);
    expect([3, 4, 6].map(before.at)).toEqual(['j3', 'j4', 'j6']);
  });
});
