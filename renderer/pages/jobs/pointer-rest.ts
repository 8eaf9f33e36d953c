/**
 * On which row the pointer is, once the list rests. While rows run past the pointer none of them is under it: a sheet over them takes it,
 * or the browser would look in each frame for the element it is on now, and tell that one and the one before.
 */
import styles from './job-row.module.css';

/** The list rests when it was not moved for so long. */
const restMs = 120;

export interface PointerRest {
  /** Lies over the rows that are before it. */
  readonly sheet: HTMLElement;
  /** The list was moved. */
  readonly moved: () => void;
  readonly attach: (rows: HTMLElement) => () => void;
}

/** `onRow` is called with the row the pointer rests on, and with null when it rests on none. */
export function createPointerRest(onRow: (row: Element | null) => void): PointerRest {
  const sheet = document.createElement('div');
  sheet.className = styles['sheet'] ?? '';
  sheet.setAttribute('role', 'none');
  sheet.hidden = true;
  let pointed: Element | null = null;
  /** Where the pointer was seen last. */
  let place = { x: 0, y: 0 };
  let movedAtMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function settle(): void {
    timer = null;
    const wait = movedAtMs + restMs - performance.now();
    if (wait > 0) {
      timer = setTimeout(settle, wait);
      return;
    }
    if (!sheet.hidden) {
      sheet.hidden = true;
      // The browser tells of it too, some frames later.
      if (pointed === sheet) pointed = document.elementFromPoint(place.x, place.y);
    }
    onRow(pointed?.closest('[role="row"]') ?? null);
  }

  function point(element: Element | null): void {
    pointed = element;
    if (timer === null) settle();
  }

  return {
    sheet,
    moved() {
      movedAtMs = performance.now();
      if (pointed === null || !sheet.hidden) return;
      sheet.hidden = false;
      pointed = sheet;
      timer ??= setTimeout(settle, restMs);
    },
    attach(rows) {
      const onMove = (event: MouseEvent) => {
        place = { x: event.clientX, y: event.clientY };
      };
      const onOver = (event: MouseEvent) => {
        onMove(event);
        point(event.target instanceof Element ? event.target : null);
      };
      const onLeave = () => {
        point(null);
      };
      rows.append(sheet);
      rows.addEventListener('mouseover', onOver);
      rows.addEventListener('mousemove', onMove);
      rows.addEventListener('mouseleave', onLeave);
      return () => {
        if (timer !== null) clearTimeout(timer);
        timer = null;
        pointed = null;
        sheet.hidden = true;
        sheet.remove();
        rows.removeEventListener('mouseover', onOver);
        rows.removeEventListener('mousemove', onMove);
        rows.removeEventListener('mouseleave', onLeave);
      };
    },
  };
}

/** The element the pointer was on, or would be on without a sheet between. */
export function pointedAt(event: MouseEvent): Element | null {
  const { target } = event;
  if (!(target instanceof Element)) return null;
  if (target.closest('[role="row"]') !== null) return target;
  const below = document.elementsFromPoint(event.clientX, event.clientY);
  return below.find((element) => element.closest('[role="row"]') !== null) ?? null;
}
