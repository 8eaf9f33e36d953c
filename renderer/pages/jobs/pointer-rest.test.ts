// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPointerRest, pointedAt, type PointerRest } from './pointer-rest.js';

let rows: HTMLElement;
let told: (Element | null)[];
let rest: PointerRest;
let leave: () => void;

function newRow(): HTMLElement {
  const row = document.createElement('div');
  row.setAttribute('role', 'row');
  row.append(document.createElement('a'));
  return row;
}
const over = (element: Element | null) =>
  element?.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  rows = document.createElement('div');
  document.body.append(rows);
  told = [];
  rest = createPointerRest((row) => told.push(row));
  leave = rest.attach(rows);
});
afterEach(() => {
  leave();
  rows.remove();
  // jsdom lays nothing out and has neither.
  for (const name of ['elementFromPoint', 'elementsFromPoint']) Reflect.deleteProperty(document, name);
  vi.useRealTimers();
});

it('tells at once of the row the pointer comes to while the list rests', () => {
  const row = newRow();
  rows.append(row);
  over(row.firstElementChild);
  expect(told).toEqual([row]);
});

it('takes the pointer while the list moves, and tells once it rests what it is on then', () => {
  const [row, next] = [newRow(), newRow()];
  rows.append(row, next);
  Object.assign(document, {
    elementFromPoint: (x: number, y: number) => (x === 30 && y === 40 ? next.firstElementChild : null),
  });
  over(row);
  told.length = 0;
  for (let turn = 0; turn < 10; turn += 1) {
    rest.moved();
    expect(rest.sheet.hidden).toBe(false);
    over(rest.sheet);
    vi.advanceTimersByTime(50);
  }
  rest.sheet.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: 30, clientY: 40 }));
  expect(told).toEqual([]);
  vi.advanceTimersByTime(120);
  expect(rest.sheet.hidden).toBe(true);
  expect(told).toEqual([next]);
});

it('tells of none where the pointer left while the list moved', () => {
  const row = newRow();
  rows.append(row);
  over(row);
  rest.moved();
  rows.dispatchEvent(new MouseEvent('mouseleave'));
  vi.advanceTimersByTime(120);
  expect(rest.sheet.hidden).toBe(true);
  expect(told).toEqual([row, null]);
});

it('lies over the rows only where the pointer is among them', () => {
  rest.moved();
  expect(rest.sheet.hidden).toBe(true);
});

it('finds the row that a click through the sheet was meant for', () => {
  const row = newRow();
  rows.append(row);
  over(row);
  rest.moved();
  const at = vi.fn(() => [rest.sheet, row, rows, document.body]);
  Object.assign(document, { elementsFromPoint: at });
  let found: Element | null = null;
  rows.addEventListener('click', (event) => (found = pointedAt(event)));
  rest.sheet.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: 30, clientY: 40 }));
  expect(found).toBe(row);
  expect(at).toHaveBeenCalledWith(30, 40);
});
