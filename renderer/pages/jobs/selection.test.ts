import { describe, expect, it, vi } from 'vitest';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { createJobEntities } from '../../state/entities.js';
import { createSelection } from './selection.js';

describe('selection', () => {
  it('takes no more than one command may name, by whatever way they come', () => {
    const selection = createSelection(3);
    selection.set(['a', 'b', 'c', 'd']);
    expect(selection.selected()).toEqual(['a', 'b', 'c']);
    expect(selection.isSelected('d')).toBe(false);
    selection.toggle('e');
    expect(selection.selected()).toEqual(['a', 'b', 'c']);
    selection.toggle('a');
    selection.add(['d', 'e']);
    expect(selection.selected()).toEqual(['b', 'c', 'd']);
    selection.clear();
    selection.setActive('a');
    selection.extendTo('d', () => ['a', 'b', 'c', 'd']);
    expect(selection.count()).toBe(3);
    expect(selection.rangeStart()).toBe('a');
  });

  it('lets go of jobs that are no longer there, and tells only then', () => {
    const selection = createSelection();
    selection.set(['a', 'b']);
    const told = vi.fn();
    selection.subscribe(told);
    selection.drop(['c']);
    expect(told).not.toHaveBeenCalled();
    selection.drop(['a', 'c']);
    expect(selection.selected()).toEqual(['b']);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('keeps the rows it holds, however many come after them', () => {
    const jobs = createJobEntities(4);
    const selection = createSelection();
    jobs.hold(selection.isSelected);
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_item, at) => fakeSummary({ id: `/anna/j${from + at}` }));
    jobs.put(rows(0, 3));
    selection.set(['/anna/j0', '/anna/j1', '/anna/j2']);
    jobs.put(rows(3, 100));
    expect(selection.selected().map((id) => jobs.get(id)?.id)).toEqual(['/anna/j0', '/anna/j1', '/anna/j2']);
    selection.clear();
    jobs.put(rows(200, 4));
    expect(jobs.get('/anna/j0')).toBeUndefined();
    expect(jobs.size).toBe(4);
  });
});
