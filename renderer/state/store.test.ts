import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPacedStore } from './store.js';

describe('paced store', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows the first value at once and of what follows the latest, after the gap', () => {
    const store = createPacedStore(0, 100);
    const seen: number[] = [];
    store.subscribe(() => seen.push(store.get()));
    for (const value of [1, 2, 3]) store.set(value);
    expect(seen).toEqual([1]);
    vi.advanceTimersByTime(99);
    expect(store.get()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(seen).toEqual([1, 3]);
    store.set(4);
    expect(seen).toEqual([1, 3]);
    vi.advanceTimersByTime(100);
    expect(seen).toEqual([1, 3, 4]);
  });

  it('shows a value at once again after a quiet time, and nothing twice', () => {
    const store = createPacedStore('a', 100);
    const listener = vi.fn();
    store.subscribe(listener);
    store.set('a');
    expect(listener).not.toHaveBeenCalled();
    store.set('b');
    vi.advanceTimersByTime(300);
    store.set('c');
    expect(store.get()).toBe('c');
    expect(listener).toHaveBeenCalledTimes(2);
  });
});
