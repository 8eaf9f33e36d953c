/** Draws the rows that are seen on a canvas: bars as tints with an edge in the colour of their state, the future fainter, places kept hatched. */
import type { AttemptState } from '../../../core/contract/states.js';
import { queue as words } from '../../strings/queue.js';
import { rowPadding, type Bar, type LaneRow, type Lanes } from './lane-rows.js';
import { ticksOf, type TimeRange } from './time-scale.js';

type BarState = AttemptState | 'PROMISED';

/** CSS variables by state; the canvas reads them when the theme changes. */
const stateColors: Readonly<Record<BarState, string>> = {
  PROMISED: '--iris-waiting',
  ASSIGNED: '--iris-assigned',
  BUILDING: '--iris-building',
  RUNNING: '--iris-running',
  SUCCEEDED: '--iris-succeeded',
  FAILED: '--iris-failed',
  KILLED: '--iris-killed',
  WORKER_FAILED: '--iris-failed',
  PREEMPTED: '--iris-waiting',
  COSCHED_FAILED: '--iris-killed',
};

/** At the end of what is over, so that colour is not all that tells how. */
const endMarks: Partial<Readonly<Record<BarState, string>>> = {
  SUCCEEDED: '✓',
  FAILED: '✕',
  KILLED: '■',
  WORKER_FAILED: '⚡',
  PREEMPTED: '«',
  COSCHED_FAILED: '∞',
};

export interface Palette {
  readonly of: (state: BarState) => string;
  readonly background: string;
  readonly line: string;
  readonly strongLine: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly focus: string;
  readonly font: string;
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  const colors = new Map(Object.entries(stateColors).map(([state, name]) => [state, read(name)]));
  return {
    of: (state) => colors.get(state) ?? read('--iris-killed'),
    background: read('--iris-bg'),
    line: read('--iris-line'),
    strongLine: read('--iris-line-strong'),
    text: read('--iris-text'),
    muted: read('--iris-text-muted'),
    accent: read('--iris-accent'),
    focus: read('--iris-focus'),
    font: read('--iris-font'),
  };
}

export interface Drawing {
  readonly context: CanvasRenderingContext2D;
  readonly palette: Palette;
  readonly width: number;
  readonly height: number;
  /** Rows above the canvas' top edge. */
  readonly scrollTop: number;
  readonly range: TimeRange;
  readonly nowMs: number;
  readonly lanes: Lanes;
  readonly lit: { readonly row: number; readonly bar: Bar } | null;
}

/** From this height on a bar has room for its job's name, and for dashes that can be told apart. */
const labelled = 11;

/** Width a tick's text needs. */
export const tickWidth = 84;

export function drawLanes(drawing: Drawing): void {
  const { context, palette, width, height, scrollTop, lanes, range, nowMs } = drawing;
  const xOf = (ms: number) => ((ms - range.startMs) / (range.endMs - range.startMs)) * width;
  context.clearRect(0, 0, width, height);
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  for (const tick of ticksOf(range, width / tickWidth)) {
    const x = Math.round(xOf(tick)) + 0.5;
    stroke(context, x, 0, x, height);
  }
  lanes.rows.forEach((row, index) => {
    if (row.top + row.height < scrollTop || row.top > scrollTop + height) return;
    const y = row.top - scrollTop;
    context.strokeStyle = row.machine === null || index === 0 ? palette.line : palette.strongLine;
    if (index > 0) stroke(context, 0, Math.round(y) + 0.5, width, Math.round(y) + 0.5);
    for (const kept of row.reserved) {
      const from = Math.max(0, xOf(Math.max(kept.startMs ?? nowMs, nowMs)));
      if (from < width) drawKept(drawing, row, y, from, kept.jobId);
    }
    const lit = drawing.lit?.row === index ? drawing.lit.bar : null;
    // The last pixel drawn in each track: of a thousand bars in one pixel one is enough.
    const drawnTo = new Map<number, number>();
    for (const bar of row.bars) {
      const from = xOf(bar.fromMs);
      const to = Math.max(from + 1, bar.toMs === Infinity ? Infinity : xOf(bar.toMs));
      if (to < 0 || from > width) continue;
      if (bar !== lit && to <= (drawnTo.get(bar.track) ?? -1)) continue;
      drawnTo.set(bar.track, Math.ceil(Math.min(to, width)));
      drawBar(drawing, row, y + rowPadding + bar.track * (row.barHeight + 1), bar, from, to, xOf(nowMs));
      if (bar === lit) ring(drawing, row, y + rowPadding + bar.track * (row.barHeight + 1), from, to);
    }
  });
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  const end = Math.round(lanes.height - scrollTop) + 0.5;
  stroke(context, 0, end, width, end);
  const now = Math.round(xOf(nowMs)) + 0.5;
  if (now >= 0 && now <= width) {
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    stroke(context, now, 0, now, height);
  }
}

function drawBar(
  { context, palette, width }: Drawing,
  row: LaneRow,
  y: number,
  bar: Bar,
  from: number,
  to: number,
  now: number,
): void {
  const { state } = bar.item;
  const color = palette.of(state);
  const left = Math.max(-4, from);
  const right = Math.min(width + 4, to);
  const height = row.barHeight;
  const solidTo = state === 'PROMISED' ? left : Math.max(left, Math.min(right, to <= now ? to : now));
  const isActive = endMarks[state] === undefined;
  if (solidTo > left) {
    context.globalAlpha = isActive ? 0.34 : 0.2;
    context.fillStyle = color;
    context.fillRect(left, y, Math.max(1, solidTo - left), height);
  }
  if (right > solidTo && to > now) {
    // What is expected: fainter, dashed, fading out where no end is known.
    const fades = to === Infinity;
    const fadeTo = fades ? Math.min(right, solidTo + width / 4) : right;
    const shade = context.createLinearGradient(solidTo, 0, Math.max(solidTo + 1, fadeTo), 0);
    shade.addColorStop(0, color);
    shade.addColorStop(1, fades ? 'transparent' : color);
    context.globalAlpha = height < labelled ? 0.22 : 0.14;
    context.fillStyle = shade;
    context.fillRect(solidTo, y, fadeTo - solidTo, height);
    context.globalAlpha = 0.9;
    context.strokeStyle = shade;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    if (height >= labelled) {
      stroke(context, solidTo, y + 0.5, fadeTo, y + 0.5);
      stroke(context, solidTo, y + height - 0.5, fadeTo, y + height - 0.5);
    }
    if (!fades && height >= labelled) stroke(context, fadeTo - 0.5, y, fadeTo - 0.5, y + height);
    context.setLineDash([]);
  }
  context.globalAlpha = 1;
  context.fillStyle = color;
  context.fillRect(left, y, Math.min(3, Math.max(1, right - left)), height);
  if (height < labelled) return;
  label(
    { context, palette, row, y },
    bar.item.jobName,
    Math.max(0, left) + 7,
    Math.min(width, to === Infinity ? width : right) - 4,
    endMarks[state] ?? '',
    color,
  );
}

interface LabelPlace {
  readonly context: CanvasRenderingContext2D;
  readonly palette: Palette;
  readonly row: LaneRow;
  readonly y: number;
}

function label(
  { context, palette, row, y }: LabelPlace,
  text: string,
  from: number,
  to: number,
  mark: string,
  color: string,
): void {
  context.font = `${row.barHeight >= 16 ? 11 : 9}px ${palette.font}`;
  context.textBaseline = 'middle';
  const middle = y + row.barHeight / 2 + 0.5;
  let end = to;
  if (mark !== '' && to - from >= 8) {
    context.fillStyle = color;
    context.textAlign = 'right';
    context.fillText(mark, to, middle);
    end = to - 14;
  }
  if (end - from < 24) return;
  context.fillStyle = palette.text;
  context.textAlign = 'left';
  context.fillText(fitted(context, text, end - from), from, middle);
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? '' : `${text.slice(0, low)}…`;
}

function drawKept(
  { context, palette, width }: Drawing,
  row: LaneRow,
  y: number,
  from: number,
  jobId: string,
): void {
  const top = y + 2;
  const height = row.height - 4;
  context.save();
  context.beginPath();
  context.rect(from, top, width - from, height);
  context.clip();
  context.strokeStyle = palette.of('PROMISED');
  context.globalAlpha = 0.28;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = from - height; x < width; x += 7) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
  context.strokeStyle = palette.of('PROMISED');
  context.lineWidth = 1.5;
  stroke(context, from + 0.5, top, from + 0.5, top + height);
  if (row.machine === null) return;
  const text = words.keptFor(jobId.slice(jobId.lastIndexOf('/') + 1));
  context.font = `11px ${palette.font}`;
  const fitting = fitted(context, text, width - from - 12);
  context.fillStyle = palette.background;
  context.fillRect(from + 4, top + height - 16, context.measureText(fitting).width + 6, 15);
  context.fillStyle = palette.text;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(fitting, from + 7, top + height - 8);
}

function ring({ context, palette, width }: Drawing, row: LaneRow, y: number, from: number, to: number): void {
  context.strokeStyle = palette.focus;
  context.lineWidth = 2;
  const left = Math.max(1, from);
  context.strokeRect(left, y - 1, Math.max(3, Math.min(width - 1, to) - left), row.barHeight + 2);
}

function stroke(
  context: CanvasRenderingContext2D,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
): void {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}
