/**
 * The lines of the list that are in view, drawn without React into a pool of elements: a line that leaves one end becomes the one that
 * enters at the other. It listens to the jobs it shows, to the selection, to pending stops and to the clock, and redraws what differs:
 * what the user does at once, what comes by itself a few rows a frame (late-draws.ts).
 */
import { onTick, tickMs } from '../../components/clock.js';
import type { JobActions } from '../../state/job-actions.js';
import type { JobEntities } from '../../state/entities.js';
import { createLateDraws } from './late-draws.js';
import { lineWindow, reserveLines, type LineWindow } from './line-window.js';
import type { ListRow, ListStructure } from './list-structure.js';
import { createPointerRest, pointedAt } from './pointer-rest.js';
import { actionAttribute, type RowAction } from './row-dom.js';
import { createRowElement, rowElementId, rowHeight, type RowElement } from './row-element.js';
import type { Selection } from './selection.js';

export interface RowHandlers {
  readonly open: (id: string) => void;
  readonly toggleChildren: (id: string) => void;
  /** A click with a modifier, or on the box. */
  readonly select: (id: string, how: 'toggle' | 'range') => void;
  readonly stop: (id: string) => void;
  readonly runAgain: (id: string) => void;
  readonly menu: (id: string, x: number, y: number) => void;
}

/**
 * Lines beyond those in view that are drawn in one frame. Two turns of the wheel within one frame would else make it long, the next one
 * as late for it, and so on. While the list moves and so many lie ready, none are: what a frame costs beside its lines, from styles to
 * the compositor's own copy, is half of it, and is then paid every second frame.
 */
const reserveAFrame = { moving: 9, resting: 5, ready: 6 };
/** Where there is no layout, as long as a window of the usual size. */
const usualHeight = 600;
/** The head stays on top of the rows and takes that much of the view. */
export const headHeight = 27;
/** While nothing is known yet, as many bars as a window holds. */
export const linesWhileLoading = 24;

export interface RowsElements {
  readonly grid: HTMLElement;
  readonly scroller: HTMLElement;
  /** Where the rows are put. */
  readonly place: HTMLElement;
  /** Told of each new place, before rows are drawn for it. */
  readonly onScroll: (top: number) => void;
}

export interface RowsShown {
  readonly structure: ListStructure;
  readonly showEnd: boolean;
  readonly handlers: RowHandlers;
}

export interface RowsViewParts {
  readonly jobs: JobEntities;
  readonly stopping: JobActions['stopping'];
  readonly selection: Selection;
  /** The lines in view, for what is to be fetched. */
  readonly onRange: (first: number, last: number) => void;
  /** Lines in view that are no jobs: React draws them. */
  readonly onOthers: (lines: readonly number[]) => void;
}

export interface RowsView {
  readonly attach: (elements: RowsElements) => () => void;
  readonly show: (shown: RowsShown) => void;
  /** The list was scrolled, by whomever. */
  readonly scrolled: () => void;
}

interface Slot {
  readonly element: RowElement;
  line: number;
  row: ListRow | null;
  readonly changed: () => void;
  stopListening: (() => void) | null;
}

function sameRow(a: ListRow, b: ListRow): boolean {
  if (a.kind !== b.kind || a.depth !== b.depth) return false;
  return a.kind !== 'job' || b.kind !== 'job' || (a.id === b.id && a.open === b.open);
}

interface JobPlace {
  readonly id: string;
  readonly action: Element | null;
}

function actionOf({ action }: JobPlace): RowAction | null {
  return (action?.getAttribute(actionAttribute) ?? null) as RowAction | null;
}

export function createRowsView(parts: RowsViewParts): RowsView {
  const { jobs, stopping, selection, onRange, onOthers } = parts;
  const slots: Slot[] = [];
  let elements: RowsElements | null = null;
  let shown: RowsShown | null = null;
  let range: LineWindow | null = null;
  let forward = true;
  let top = 0;
  let others: readonly number[] = [];
  let hovered: Slot | null = null;
  let pressed: { readonly id: string; readonly action: RowAction | null } | null = null;
  const pointer = createPointerRest(hover);
  /** Rows that changed by themselves. */
  const late = createLateDraws(drawSlot);
  /** Lines of the reserve are still to be drawn, with the next frame in which no others were. */
  let reserveFrame: number | null = null;
  let placedInFrame = false;

  const viewHeight = (): number => elements?.scroller.clientHeight || usualHeight;
  let height = usualHeight;

  function drawSlot(slot: Slot): void {
    late.drop(slot);
    const { row } = slot;
    if (row === null || shown === null) return;
    const id = row.kind === 'job' ? row.id : null;
    slot.element.show(id === null ? undefined : jobs.get(id), {
      line: slot.line,
      depth: row.depth,
      open: row.kind === 'job' && row.open,
      flat: shown.structure.flat,
      showEnd: shown.showEnd,
      selected: id !== null && selection.isSelected(id),
      active: id !== null && selection.active() === id,
      stopping: id !== null && stopping.has(id),
      hovered: slot === hovered,
      nowMs: tickMs(),
    });
  }

  function drawAll(): void {
    for (const slot of slots) drawSlot(slot);
    markActive();
  }

  function markActive(): void {
    const active = selection.active();
    const isShown =
      active !== null && slots.some(({ row }) => row !== null && row.kind === 'job' && row.id === active);
    if (isShown) elements?.grid.setAttribute('aria-activedescendant', rowElementId(active));
    else elements?.grid.removeAttribute('aria-activedescendant');
  }

  function newSlot(): Slot {
    const slot: Slot = {
      element: createRowElement(),
      line: -1,
      row: null,
      changed: () => {
        late.add(slot);
      },
      stopListening: null,
    };
    slots.push(slot);
    return slot;
  }

  function clearSlot(slot: Slot): void {
    slot.stopListening?.();
    slot.stopListening = null;
    slot.row = null;
    slot.line = -1;
    slot.element.root.remove();
    late.drop(slot);
    if (slot === hovered) hovered = null;
  }

  function fillSlot(slot: Slot, line: number, row: ListRow): void {
    const before = slot.row?.kind === 'job' ? slot.row.id : null;
    const id = row.kind === 'job' ? row.id : null;
    if (slot === hovered && (line !== slot.line || id !== before)) hovered = null;
    slot.line = line;
    slot.row = row;
    if (id !== before) {
      slot.stopListening?.();
      slot.stopListening = id === null ? null : jobs.listen(id, slot.changed);
    }
    drawSlot(slot);
    if (slot.element.root.parentNode === null) elements?.place.insertBefore(slot.element.root, pointer.sheet);
  }

  const length = (structure: ListStructure): number =>
    structure.total === null ? linesWhileLoading : structure.length;

  /**
   * Puts the lines in view into the pool, and of the reserve some a frame. `all`: what the lines are may have changed, not only which are
   * in view.
   */
  function place(all: boolean, at: number, moving = true): void {
    if (elements === null || shown === null) return;
    const { structure } = shown;
    if (at !== top) forward = at > top;
    top = at;
    const next = lineWindow({ count: length(structure), top, height, rowHeight, forward });
    const { first, last, size } = next;
    const before = range;
    if (!all && reserveFrame === null && first === before?.first && last === before.last) return;
    if (!all && before !== null) late.moved(Math.abs(next.firstInView - before.firstInView));
    range = next;
    fitSlots(size);
    const still = all ? [] : others.filter((line) => line >= first && line <= last);
    const seen: number[] = [];
    const beyond = reserveLines(next, forward);
    const ready = beyond.findIndex((line) => slots[line % size]?.line !== line);
    let left = !moving
      ? reserveAFrame.resting
      : ready < 0 || ready >= reserveAFrame.ready
        ? 0
        : reserveAFrame.moving;
    /** Whether the line is there now. */
    const put = (line: number, inView: boolean): boolean => {
      const slot = slots[line % size];
      if (slot === undefined) return true;
      const isThere = slot.line === line && slot.row !== null;
      // Where only the place is another one, a line that was drawn is as it was.
      if (!all && (isThere || still.includes(line))) return true;
      const row = structure.rowAt(line);
      if (row.kind === 'more' || row.kind === 'failed') {
        seen.push(line);
        clearSlot(slot);
        return true;
      }
      if (isThere && slot.row !== null && sameRow(slot.row, row)) return true;
      if (!isThere && !inView && left <= 0) return false;
      left -= 1;
      fillSlot(slot, line, row);
      return true;
    };
    for (let line = next.firstInView; line <= next.lastInView; line += 1) put(line, true);
    const behind = beyond.filter((line) => !put(line, false)).length > 0;
    for (const slot of slots) {
      // Those that wait for a line of the reserve keep the one they had, out of view as it is.
      const isOut = slot.row !== null && (slot.line < first || slot.line > last);
      if (isOut && (all || !behind)) clearSlot(slot);
    }
    markActive();
    if (seen.length > 0 || still.length !== others.length) onOthers((others = [...still, ...seen]));
    onRange(first, Math.max(first, last));
    placedInFrame = true;
    if (behind) reserveFrame ??= requestAnimationFrame(placeReserve);
    else leaveReserve();
  }

  function placeReserve(): void {
    reserveFrame = requestAnimationFrame(placeReserve);
    if (!placedInFrame) place(false, top, false);
    placedInFrame = false;
  }

  function leaveReserve(): void {
    if (reserveFrame !== null) cancelAnimationFrame(reserveFrame);
    reserveFrame = null;
    placedInFrame = false;
  }

  /** An element shows the lines that leave the same rest by the size of the pool: with another size each has another place. */
  function fitSlots(size: number): void {
    if (slots.length === size) return;
    for (const slot of slots) clearSlot(slot);
    slots.length = Math.min(slots.length, size);
    while (slots.length < size) newSlot();
  }

  function hover(root: Element | null): void {
    const next = root === null ? null : (slots.find(({ element }) => element.root === root) ?? null);
    if (next === hovered) return;
    const before = hovered;
    hovered = next;
    if (before !== null) drawSlot(before);
    if (next !== null) drawSlot(next);
  }

  function jobAt(event: MouseEvent): JobPlace | null {
    const target = pointedAt(event);
    const root = target?.closest('[role="row"]') ?? null;
    if (target === null || root === null) return null;
    const row = slots.find(({ element }) => element.root === root)?.row ?? null;
    return row?.kind === 'job' ? { id: row.id, action: target.closest('button') } : null;
  }

  function onPress(event: MouseEvent): void {
    const found = jobAt(event);
    pressed = found === null ? null : { id: found.id, action: actionOf(found) };
  }

  function onClick(event: MouseEvent): void {
    const found = jobAt(event);
    if (found === null || shown === null) return;
    const { handlers } = shown;
    const { id, action } = found;
    // The link of the name leads where the row does.
    event.preventDefault();
    // Let go elsewhere than it was pressed, or the list has moved under it in between; a key's click was pressed nowhere.
    if (event.detail > 0 && (pressed?.id !== id || pressed.action !== actionOf(found))) return;
    if (action !== null) {
      act(actionOf(found), id, event, action);
    } else if (event.shiftKey) handlers.select(id, 'range');
    else if (event.ctrlKey || event.metaKey) handlers.select(id, 'toggle');
    else handlers.open(id);
  }

  function act(action: RowAction | null, id: string, event: MouseEvent, at: Element): void {
    if (shown === null || action === null) return;
    const { handlers } = shown;
    switch (action) {
      case 'check':
        handlers.select(id, event.shiftKey ? 'range' : 'toggle');
        return;
      case 'children':
        handlers.toggleChildren(id);
        return;
      case 'stop':
        handlers.stop(id);
        return;
      case 'run':
        handlers.runAgain(id);
        return;
      case 'menu': {
        const box = at.getBoundingClientRect();
        handlers.menu(id, box.left, box.bottom);
      }
    }
  }

  function onMenu(event: MouseEvent): void {
    const found = jobAt(event);
    if (found === null) return;
    event.preventDefault();
    shown?.handlers.menu(found.id, event.clientX, event.clientY);
  }

  return {
    attach(given) {
      elements = given;
      height = viewHeight();
      const { place: rows, scroller } = given;
      const onScroll = () => {
        pointer.moved();
        // Nothing was changed yet since the last frame: reading it costs nothing here.
        const at = scroller.scrollTop;
        given.onScroll(at);
        place(false, at);
      };
      scroller.addEventListener('scroll', onScroll, { passive: true });
      rows.addEventListener('mousedown', onPress);
      rows.addEventListener('click', onClick);
      rows.addEventListener('contextmenu', onMenu);
      const leavePointer = pointer.attach(rows);
      const sizes = new ResizeObserver(() => {
        const now = viewHeight();
        if (now === height) return;
        height = now;
        place(false, scroller.scrollTop);
      });
      sizes.observe(scroller);
      const onClock = () => {
        for (const slot of slots) if (slot.row !== null) late.add(slot);
      };
      const stops = [selection.subscribe(drawAll), stopping.subscribe(drawAll), onTick(onClock)];
      return () => {
        for (const stop of stops) stop();
        sizes.disconnect();
        leavePointer();
        late.stop();
        leaveReserve();
        scroller.removeEventListener('scroll', onScroll);
        rows.removeEventListener('mousedown', onPress);
        rows.removeEventListener('click', onClick);
        rows.removeEventListener('contextmenu', onMenu);
        for (const slot of slots) clearSlot(slot);
        range = null;
        others = [];
        elements = null;
      };
    },
    show(next) {
      const before = shown;
      shown = next;
      if (
        before?.structure === next.structure &&
        before.showEnd === next.showEnd &&
        range !== null &&
        range.last >= 0
      )
        return;
      place(true, elements?.scroller.scrollTop ?? 0);
      // Other columns of the same rows.
      if (before?.structure.flat !== next.structure.flat || before.showEnd !== next.showEnd) drawAll();
    },
    scrolled() {
      place(false, elements?.scroller.scrollTop ?? 0);
    },
  };
}
