import { describe, expect, it } from 'vitest';
import { filterOf, formatJobsView, parseJobsView, sortOf, wholeView, type JobsView } from './jobs-view.js';

const now = new Date(2026, 10, 29, 14, 30).getTime();

describe('jobs view', () => {
  it.each<[string, JobsView]>([
    ['', wholeView],
    ['show=running', { ...wholeView, show: 'running' }],
    ['states=FAILED%2CKILLED', { ...wholeView, show: 'states', states: ['FAILED', 'KILLED'] }],
    [
      'show=ended&mine=1&q=lr%3D1e-4+sweep',
      { ...wholeView, show: 'ended', mine: true, search: 'lr=1e-4 sweep' },
    ],
    ['sort=-duration', { ...wholeView, sort: { key: 'duration', descending: true } }],
  ])('reads and writes %j', (query, view) => {
    expect(parseJobsView(query)).toEqual(view);
    expect(formatJobsView(view)).toBe(query);
  });

  it('reads an address it does not understand as the whole list', () => {
    expect(parseJobsView('show=nonsense&states=BROKEN&sort=-color')).toEqual(wholeView);
  });

  it('asks for root jobs in a tree, and for every depth when searching', () => {
    expect(filterOf(wholeView, 'anna', now)).toEqual({ rootsOnly: true });
    expect(filterOf({ ...wholeView, search: '  sweep ' }, 'anna', now)).toEqual({
      search: 'sweep',
      rootsOnly: false,
    });
  });

  it('means by Failed today what failed, was lost or can never run since midnight', () => {
    expect(filterOf({ ...wholeView, show: 'failed-today', mine: true }, 'anna', now)).toEqual({
      states: ['FAILED', 'WORKER_FAILED', 'UNSCHEDULABLE'],
      finishedSinceMs: new Date(2026, 10, 29).getTime(),
      user: 'anna',
      rootsOnly: true,
    });
  });

  it('orders ended jobs by their end and others by submission, unless told otherwise', () => {
    expect(sortOf(wholeView)).toEqual({ key: 'submitted', descending: true });
    expect(sortOf({ ...wholeView, show: 'ended' })).toEqual({ key: 'finished', descending: true });
    expect(sortOf({ ...wholeView, show: 'ended', sort: { key: 'name', descending: false } }).key).toBe(
      'name',
    );
  });
});
