// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { JobsPage } from './jobs-page.js';

const rowOf = (name: string): HTMLElement => {
  const row = screen.getByText(name, { exact: true }).closest('[role="row"]');
  if (!(row instanceof HTMLElement)) throw new Error(`no row ${name}`);
  return row;
};

test('a click acts only where it was pressed', async () => {
  renderInWindow(<JobsPage query="" />, {});
  await screen.findByText('train-llm');
  const click = { ctrlKey: true, detail: 1 };
  fireEvent.mouseDown(rowOf('train-llm'));
  fireEvent.click(rowOf('eval-mmlu'), click);
  expect(screen.queryByText('1 selected')).toBeNull();
  fireEvent.mouseEnter(rowOf('eval-mmlu'));
  const check = rowOf('eval-mmlu').querySelector('[data-action="check"]');
  if (check === null) throw new Error('the row has no box to check');
  fireEvent.mouseDown(rowOf('eval-mmlu'));
  fireEvent.click(check, click);
  expect(screen.queryByText('1 selected')).toBeNull();
  fireEvent.mouseDown(check);
  fireEvent.click(check, click);
  expect(rowOf('eval-mmlu').getAttribute('aria-selected')).toBe('true');
  fireEvent.mouseDown(rowOf('train-llm'));
  fireEvent.click(rowOf('train-llm'), click);
  expect(screen.getByText('2 selected')).toBeTruthy();
});
