/** Figures over time as lines, by uPlot: the values at the pointer, or at the keys' cursor, beside the names; else the last ones. */
import { useEffect, useId, useRef, type KeyboardEvent } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { common } from '../../strings/common.js';
import { charts as words } from '../../strings/charts.js';
import { timeFormat } from '../../strings/numbers.js';
import type { GraphColumns } from './history-data.js';
import { lastAndHighest, withoutRepeats } from './history-data.js';
import styles from './time-chart.module.css';

export interface ChartLine {
  readonly key: string;
  readonly label: string;
  /** What it is, on hover. */
  readonly hint?: string;
  /** Number of its colour, so that the same thing has the same one in several charts; absent: its place in this one. */
  readonly look?: number;
}

export interface TimeChartProps {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly data: GraphColumns;
  readonly fromMs: number;
  readonly toMs: number;
  /** Upper end of the scale; null: by the values. */
  readonly most: number | null;
  readonly text: (value: number) => string;
  /** Steps of the scale; null: uPlot's own. */
  readonly steps: readonly number[] | null;
  /** Charts of the same name move their cursor together. */
  readonly group: string;
  readonly height?: number;
}

const colors = 8;
const colorOf = (index: number): string => `--iris-chart-${(index % colors) + 1}`;
/** From the fifth line on colour is not all that tells lines apart. */
const dashOf = (index: number): number[] => (Math.floor(index / 4) % 2 === 0 ? [] : [5, 3]);

const lookOf = (lines: readonly ChartLine[], index: number): number => lines[index]?.look ?? index;

function cssValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const clock = timeFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const hour = timeFormat({ hour: '2-digit', minute: '2-digit' });
const dayHour = timeFormat({ weekday: 'short', hour: '2-digit', minute: '2-digit' });
/** From so long a time on the day is named. */
const longMs = 43_200_000;
/** Below that the lines of the grid lie less than a minute apart. */
const shortMs = 300_000;
const dayClock = timeFormat({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

export function TimeChart(props: TimeChartProps) {
  const { title, lines, data, fromMs, toMs, text, height = 120 } = props;
  const place = useRef<HTMLDivElement>(null);
  const values = useRef<(HTMLSpanElement | null)[]>([]);
  const time = useRef<HTMLSpanElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  const titleId = useId();
  const signature = lines.map(({ key }, index) => `${key} ${lookOf(lines, index)}`).join(' ');

  const showValues = (index: number | null) => {
    const now = latest.current;
    const at = index ?? now.data.seconds.length - 1;
    for (const [line, element] of values.current.entries()) {
      const value = now.data.columns[line]?.[at] ?? null;
      if (element !== null) element.textContent = value === null ? common.dash : now.text(value);
    }
    const seconds = now.data.seconds[at];
    if (time.current === null) return;
    const format = (now.toMs - now.fromMs > longMs ? dayClock : clock)();
    time.current.textContent = index === null || seconds === undefined ? '' : format.format(seconds * 1000);
  };

  useEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    const element = place.current;
    // Without a drawing surface the values beside the names are all there is.
    if (element === null || document.createElement('canvas').getContext('2d') === null) return undefined;
    const now = latest.current;
    const axis = {
      stroke: () => cssValue('--iris-text-muted'),
      grid: { stroke: () => cssValue('--iris-line'), width: 1 },
      ticks: { show: false },
      font: `11px ${cssValue('--iris-font')}`,
    };
    const made = new uPlot(
      {
        width: Math.max(100, element.clientWidth),
        height,
        padding: [8, 10, 0, 0],
        legend: { show: false },
        cursor: {
          sync: { key: now.group },
          drag: { x: false, y: false },
          points: { size: 7 },
          y: false,
        },
        scales: {
          x: { time: true, range: () => [latest.current.fromMs / 1000, latest.current.toMs / 1000] },
          y: {
            range: (_self, _least, highest) => {
              const { most } = latest.current;
              return [0, most ?? Math.max(highest * 1.1, 1)];
            },
          },
        },
        axes: [
          {
            ...axis,
            space: 80,
            size: 24,
            values: (_self, splits) => {
              const { fromMs: from, toMs: to } = latest.current;
              const format = (to - from > longMs ? dayHour : to - from < shortMs ? clock : hour)();
              return withoutRepeats(splits.map((seconds) => format.format(seconds * 1000)));
            },
          },
          {
            ...axis,
            size: 64,
            space: 28,
            ...(now.steps === null ? {} : { incrs: [...now.steps] }),
            values: (_self, splits) => splits.map((value) => latest.current.text(value)),
          },
        ],
        series: [
          {},
          ...now.lines.map((_line, index) => ({
            stroke: () => cssValue(colorOf(lookOf(now.lines, index))),
            width: 1.5,
            dash: dashOf(lookOf(now.lines, index)),
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [
            (self) => {
              showValues(self.cursor.idx ?? null);
            },
          ],
        },
      },
      [now.data.seconds, ...now.data.columns],
      element,
    );
    chart.current = made;
    const sized = new ResizeObserver(() => {
      made.setSize({ width: Math.max(100, element.clientWidth), height });
    });
    sized.observe(element);
    const recolour = () => {
      made.redraw(false, true);
    };
    const themed = new MutationObserver(recolour);
    themed.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    const contrast = matchMedia('(prefers-contrast: more)');
    contrast.addEventListener('change', recolour);
    return () => {
      sized.disconnect();
      themed.disconnect();
      contrast.removeEventListener('change', recolour);
      chart.current = null;
      made.destroy();
    };
  }, [signature, height]);

  useEffect(() => {
    chart.current?.setData([data.seconds, ...data.columns]);
    showValues(chart.current?.cursor.idx ?? null);
  }, [data, fromMs, toMs]);

  const onKey = (event: KeyboardEvent) => {
    const self = chart.current;
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (self === null || steps === undefined) return;
    event.preventDefault();
    const last = data.seconds.length - 1;
    const at = Math.max(0, Math.min(last, (self.cursor.idx ?? last + 1) + steps));
    const seconds = data.seconds[at];
    if (seconds === undefined) return;
    const jump = Math.abs(steps) === 1 ? seconds : data.seconds[steps < 0 ? 0 : last];
    self.setCursor({ left: self.valToPos(jump ?? seconds, 'x'), top: 10 });
  };
  const leave = () => {
    chart.current?.setCursor({ left: -10, top: -10 });
  };
  const summary = lines.map(({ label }, index) => {
    const { last, highest } = lastAndHighest(data.columns[index] ?? []);
    return words.lineSummary(
      lines.length === 1 ? '' : label,
      last === null ? null : text(last),
      highest === null ? null : text(highest),
    );
  });

  return (
    <figure className={styles['chart']} aria-labelledby={titleId}>
      <figcaption className={styles['head']}>
        <span id={titleId} className={styles['title']}>
          {title}
        </span>
        {lines.map((line, index) => (
          <span key={line.key} className={styles['line']} title={line.hint}>
            <span
              className={styles['swatch']}
              style={{
                borderTopColor: `var(${colorOf(lookOf(lines, index))})`,
                borderTopStyle: dashOf(lookOf(lines, index)).length === 0 ? 'solid' : 'dashed',
              }}
            />
            {lines.length === 1 ? null : <span className="iris-muted">{line.label}</span>}
            <span
              className={styles['value']}
              ref={(element) => {
                values.current[index] = element;
              }}
            />
          </span>
        ))}
        <span className={styles['time']} ref={time} />
      </figcaption>
      <div
        className={styles['plot']}
        style={{ height }}
        ref={place}
        tabIndex={0}
        role="img"
        aria-label={`${title}. ${summary.join(' ')}`}
        onKeyDown={onKey}
        onBlur={leave}
      />
    </figure>
  );
}
