import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hideAtFirst } from './first-sight.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the page is in sight with the first answers', () => {
  const root = document.createElement('div');
  const show = hideAtFirst(root);
  expect(root.hidden).toBe(true);
  show();
  expect(root.hidden).toBe(false);
});

test('without an answer it is in sight a tenth of a second later', () => {
  const root = document.createElement('div');
  hideAtFirst(root);
  vi.advanceTimersByTime(99);
  expect(root.hidden).toBe(true);
  vi.advanceTimersByTime(1);
  expect(root.hidden).toBe(false);
});

test('another page than the first is in sight as it comes', () => {
  const root = document.createElement('div');
  hideAtFirst(root);
  dispatchEvent(new Event('hashchange'));
  expect(root.hidden).toBe(false);
});
