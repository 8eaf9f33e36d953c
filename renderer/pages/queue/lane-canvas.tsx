/** The drawing, its labels and its time axis, with the pointer and the keys that go through its bars. */
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
} from 'react';
import type { LaneItem } from '../../../core/contract/queue.js';
import { queue as words } from '../../strings/queue.js';
import { drawLanes, readPalette, tickWidth, type Palette } from './lane-drawing.js';
import { barAt, rowAt, type Bar, type Lanes } from './lane-rows.js';
import { barSentence, barText } from './lane-text.js';
import { isClearOfNow, tickText } from './tick-text.js';
import { ticksOf, type TimeRange } from './time-scale.js';
import styles from './timeline.module.css';

export interface LaneCanvasProps {
  readonly lanes: Lanes;
  readonly range: TimeRange;
  readonly nowMs: number;
  readonly onZoom: (factor: number, share: number) => void;
  readonly onPan: (share: number) => void;
  readonly onOpen: (item: LaneItem) => void;
}

/** A bar by its row and item, so that it stays the same when the rows are made anew. */
interface Place {
  readonly row: string;
  readonly taskId: string;
  readonly fromMs: number;
}

interface Found {
  readonly row: number;
  readonly bar: Bar;
}

const gutter = 150;
const slackPixels = 3;
const dragPixels = 4;

function find(lanes: Lanes, place: Place | null): Found | null {
  if (place === null) return null;
  const row = lanes.rows.findIndex((each) => each.key === place.row);
  const bar = lanes.rows[row]?.bars.find(
    (each) => each.item.taskId === place.taskId && each.item.fromMs === place.fromMs,
  );
  return bar === undefined ? null : { row, bar };
}

const placeOf = (lanes: Lanes, { row, bar }: Found): Place | null => {
  const key = lanes.rows[row]?.key;
  return key === undefined ? null : { row: key, taskId: bar.item.taskId, fromMs: bar.item.fromMs };
};

/** Size of the part of the drawing that is seen. */
function useSize(element: RefObject<HTMLElement | null>): {
  readonly width: number;
  readonly height: number;
} {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const watched = element.current;
    if (watched === null) return undefined;
    const measure = () => {
      setSize({ width: Math.max(0, watched.clientWidth - gutter), height: watched.clientHeight });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(watched);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return size;
}

export function LaneCanvas({ lanes, range, nowMs, onZoom, onPan, onOpen }: LaneCanvasProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(scroller);
  const [scrollTop, setScrollTop] = useState(0);
  const [hovered, setHovered] = useState<Place | null>(null);
  const [focused, setFocused] = useState<Place | null>(null);
  const [hasFocus, setHasFocus] = useState(false);
  const drag = useRef<{ x: number; moved: boolean } | null>(null);
  const lit = find(lanes, hovered) ?? (hasFocus ? find(lanes, focused) : null);
  const palette = usePalette(scroller);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null || palette === null || width === 0) return;
    const scale = devicePixelRatio;
    element.width = Math.round(width * scale);
    element.height = Math.round(height * scale);
    const context = element.getContext('2d');
    if (context === null) return;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    drawLanes({ context, palette, width, height, scrollTop, range, nowMs, lanes, lit });
  });

  const latest = useRef({ onZoom, onPan });
  useEffect(() => {
    latest.current = { onZoom, onPan };
  });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    // React's own wheel listeners cannot keep the page from zooming.
    const onWheel = (event: WheelEvent) => {
      const box = element.getBoundingClientRect();
      const seen = Math.max(1, box.width - gutter);
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const share = Math.min(1, Math.max(0, (event.clientX - box.left - gutter) / seen));
        latest.current.onZoom(Math.exp(event.deltaY / 400), share);
      } else if (event.deltaX !== 0 || event.shiftKey) {
        event.preventDefault();
        latest.current.onPan((event.deltaX === 0 ? event.deltaY : event.deltaX) / seen);
      }
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      element.removeEventListener('wheel', onWheel);
    };
  }, []);

  const xOf = (ms: number) => ((ms - range.startMs) / (range.endMs - range.startMs)) * width;
  const foundAt = (event: PointerEvent<HTMLElement>): Found | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const y = event.clientY - box.top + scrollTop;
    if (width === 0 || y > lanes.height) return null;
    const msAPixel = (range.endMs - range.startMs) / width;
    const atMs = range.startMs + (event.clientX - box.left) * msAPixel;
    const row = rowAt(lanes.rows, y);
    const laneRow = lanes.rows[row];
    const bar = laneRow === undefined ? null : barAt(laneRow, y, atMs, slackPixels * msAPixel);
    return bar === null ? null : { row, bar };
  };

  const goTo = (found: Found) => {
    setFocused(placeOf(lanes, found));
    setHovered(null);
    const row = lanes.rows[found.row];
    const element = scroller.current;
    if (row === undefined || element === null) return;
    if (row.top < element.scrollTop) element.scrollTop = row.top;
    else if (row.top + row.height > element.scrollTop + height)
      element.scrollTop = row.top + row.height - height;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const current = find(lanes, focused);
    if (event.key === 'Enter' && current !== null) {
      event.preventDefault();
      onOpen(current.bar.item);
      return;
    }
    const next = nextBar(lanes, current, event.key, nowMs);
    if (next === undefined) return;
    event.preventDefault();
    if (next !== null) goTo(next);
  };

  const nowLeft = nowMs >= range.startMs && nowMs <= range.endMs ? xOf(nowMs) : null;
  const litRow = lit === null ? undefined : lanes.rows[lit.row];
  return (
    <div className={styles['lanes']}>
      <div className={styles['axis']} aria-hidden="true" style={{ marginLeft: gutter }}>
        {ticksOf(range, width / tickWidth).map((tick) => (
          <span key={tick} style={{ left: xOf(tick) }}>
            {isClearOfNow(xOf(tick), tickText(tick, range), nowLeft) ? tickText(tick, range) : ''}
          </span>
        ))}
        {nowLeft === null ? null : (
          <span className={styles['nowMark']} style={{ left: nowLeft }}>
            {words.now}
          </span>
        )}
      </div>
      <div
        ref={scroller}
        className={styles['scroller']}
        role="application"
        aria-roledescription={words.viewLanes}
        aria-label={words.lanesSummary(lanes.bars, lanes.rows.length)}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => {
          setHasFocus(true);
          if (find(lanes, focused) === null) {
            const first = nextBar(lanes, null, 'ArrowDown', nowMs);
            if (first !== null && first !== undefined) setFocused(placeOf(lanes, first));
          }
        }}
        onBlur={() => {
          setHasFocus(false);
        }}
        onScroll={(event) => {
          setScrollTop(event.currentTarget.scrollTop);
        }}
      >
        <div className={styles['inner']} style={{ height: lanes.height }}>
          {lanes.rows
            .filter((row) => row.top + row.height >= scrollTop && row.top <= scrollTop + height)
            .map((row) => (
              <div
                key={row.key}
                className={styles['label']}
                data-first={row.machine === null ? undefined : true}
                style={{ top: row.top, height: row.height, width: gutter }}
                title={row.fullLabel}
              >
                {row.machine === null ? null : <strong className="iris-ellipsis">{row.machine}</strong>}
                <span className="iris-ellipsis">{row.label}</span>
              </div>
            ))}
          <canvas
            ref={canvas}
            className={styles['canvas']}
            aria-hidden="true"
            style={{ marginLeft: gutter, width, height, cursor: hovered === null ? 'grab' : 'pointer' }}
            onPointerDown={(event) => {
              if (event.button !== 0) return;
              drag.current = { x: event.clientX, moved: false };
              event.currentTarget.setPointerCapture(event.pointerId);
            }}
            onPointerMove={(event) => {
              const start = drag.current;
              if (start === null) {
                const found = foundAt(event);
                setHovered(found === null ? null : placeOf(lanes, found));
                return;
              }
              if (!start.moved && Math.abs(event.clientX - start.x) < dragPixels) return;
              onPan(-(event.clientX - start.x) / Math.max(1, width));
              drag.current = { x: event.clientX, moved: true };
              setHovered(null);
            }}
            onPointerUp={(event) => {
              const wasMoved = drag.current?.moved === true;
              drag.current = null;
              const found = wasMoved ? null : foundAt(event);
              if (found !== null) onOpen(found.bar.item);
            }}
            onPointerLeave={() => {
              setHovered(null);
            }}
          />
        </div>
      </div>
      {lanes.rows.length === 0 || lanes.bars === 0 ? (
        <p className={`${styles['quiet'] ?? ''} iris-muted`}>
          {lanes.rows.length === 0 ? words.lanesEmpty : words.lanesQuiet}
        </p>
      ) : null}
      <p className="iris-visually-hidden" role="status">
        {hasFocus && lit !== null && litRow !== undefined
          ? barSentence(lit.bar.item, litRow.fullLabel, nowMs)
          : ''}
      </p>
      {lit === null || litRow === undefined ? null : (
        <Tip
          item={lit.bar.item}
          where={litRow.fullLabel}
          nowMs={nowMs}
          left={gutter + Math.min(Math.max(0, xOf(Math.max(lit.bar.fromMs, range.startMs))), width - 250)}
          fromTop={litRow.top - scrollTop}
          height={height}
        />
      )}
    </div>
  );
}

/** Null: there is none that way. Undefined: the key goes nowhere here. */
function nextBar(lanes: Lanes, from: Found | null, key: string, nowMs: number): Found | null | undefined {
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    if (from === null) return nextBar(lanes, null, 'ArrowDown', nowMs);
    const bars = lanes.rows[from.row]?.bars ?? [];
    const bar = bars[bars.indexOf(from.bar) + (key === 'ArrowRight' ? 1 : -1)];
    return bar === undefined ? null : { row: from.row, bar };
  }
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return undefined;
  const step = key === 'ArrowDown' ? 1 : -1;
  const wantedMs = from?.bar.fromMs ?? nowMs;
  for (let row = (from?.row ?? -1) + step; row >= 0 && row < lanes.rows.length; row += step) {
    const bars = lanes.rows[row]?.bars ?? [];
    const bar = bars.find((each) => each.toMs >= wantedMs) ?? bars.at(-1);
    if (bar !== undefined) return { row, bar };
  }
  return null;
}

interface TipProps {
  readonly item: LaneItem;
  readonly where: string;
  readonly nowMs: number;
  readonly left: number;
  readonly fromTop: number;
  readonly height: number;
}

const axisHeight = 20;

function Tip({ item, where, nowMs, left, fromTop, height }: TipProps) {
  const text = barText(item, nowMs);
  // Above the row where there is more room there, so that the bar itself stays in sight.
  const above = fromTop > height / 2;
  return (
    <div
      className={styles['tip']}
      aria-hidden="true"
      style={
        above ? { left, bottom: height - fromTop + 2 } : { left, top: axisHeight + Math.max(0, fromTop) + 28 }
      }
    >
      <strong className="iris-ellipsis">{text.name}</strong>
      <span>
        {text.state}, {text.user}, {text.band}
      </span>
      <span className="iris-muted">{where}</span>
      <span>{text.start}</span>
      <span>{text.end}</span>
    </div>
  );
}

/** Read anew when the theme changes. */
function usePalette(element: RefObject<HTMLElement | null>): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  useLayoutEffect(() => {
    const read = () => {
      if (element.current !== null) setPalette(readPalette(element.current));
    };
    read();
    const observer = new MutationObserver(read);
    observer.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    const contrast = matchMedia('(prefers-contrast: more)');
    contrast.addEventListener('change', read);
    return () => {
      observer.disconnect();
      contrast.removeEventListener('change', read);
    };
  }, [element]);
  return palette;
}
