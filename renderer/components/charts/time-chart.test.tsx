// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { TimeChart } from './time-chart.js';

/** Takes every word of drawing and draws nothing. */
const surface: unknown = new Proxy({}, { get: () => () => ({ width: 10 }), set: () => true });

const fromMs = Date.UTC(2026, 10, 30, 9, 0, 0);
const seconds = [0, 600, 1200, 1800].map((after) => fromMs / 1000 + after);
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

const drawOn = (context: unknown) => {
  Object.defineProperty(HTMLCanvasElement.prototype, 'getContext', {
    configurable: true,
    value: () => context,
  });
};

beforeEach(() => {
  drawOn(surface);
  vi.stubGlobal('Path2D', function path() {
    return surface;
  });
});
afterEach(() => {
  drawOn(null);
  vi.unstubAllGlobals();
});

describe('a graph that has the focus', () => {
  it('moves its cursor by the arrows, Home and End, and shows the values there', async () => {
    const { view } = renderInWindow(
      <TimeChart
        title="Memory"
        lines={[{ key: 'memory', label: 'Memory' }]}
        data={{ seconds, columns: [[11, 22, 33, 44]] }}
        fromMs={fromMs}
        toMs={fromMs + 1_800_000}
        most={100}
        text={(value) => `${value} MB`}
        steps={null}
        group="test"
      />,
    );
    const graph = await screen.findByRole('img', { name: /^Memory/ });
    const head = () => view.container.querySelector('figcaption')?.textContent;
    const at = (index: number) => clock.format((seconds[index] ?? 0) * 1000);
    await waitFor(() => expect(view.container.querySelector('.u-over')).not.toBeNull());
    expect(head()).toBe('Memory44 MB');
    graph.focus();
    const press = (key: string) => fireEvent.keyDown(graph, { key });
    for (const [key, value, index] of [
      ['ArrowLeft', 44, 3],
      ['ArrowLeft', 33, 2],
      ['ArrowLeft', 22, 1],
      ['ArrowRight', 33, 2],
      ['Home', 11, 0],
      ['ArrowLeft', 11, 0],
      ['End', 44, 3],
      ['ArrowRight', 44, 3],
    ] as const) {
      press(key);
      await waitFor(() => expect(head()).toBe(`Memory${value} MB${at(index)}`));
    }
    fireEvent.blur(graph);
    await waitFor(() => expect(head()).toBe('Memory44 MB'));
  });
});
