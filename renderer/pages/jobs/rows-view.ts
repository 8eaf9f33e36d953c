/**
 * The lines of the list that are in view, drawn without React into a pool of elements: a line that leaves one end becomes the one that
 * enters at the other. It listens to the jobs it shows, to the selection, to pending stops and to the clock, and redraws what differs:
 * what the user does at once, what comes by itself a few rows a frame (late-draws.ts).
 */
import { onTick, tickMs } from '../../components/clock.js';
import type { JobActions } from '../../state/job-actions.js';
import type { JobEntities } from '../../state/entities.js';
import { createLateDraws } from './late-draws.js';
import type { ListRow, ListStructure } from './list-structure.js';
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

/** Lines drawn beyond each end of what is seen. */
const overscan = 8;
/** Where there is no layout, as long as a window of the usual size. */
const usualHeight = 600;
/** While the rows run past a resting pointer, none of them is under it. */
const restMs = 120;
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

export function createRowsView(parts: RowsViewParts): RowsView {
  const { jobs, stopping, selection, onRange, onOthers } = parts;
  const slots: Slot[] = [];
  let elements: RowsElements | null = null;
  let shown: RowsShown | null = null;
  let range = { first: 0, last: -1 };
  let others: readonly number[] = [];
  let hovered: Slot | null = null;
  let pointed: Element | null = null;
  let scrolledAtMs = Number.NEGATIVE_INFINITY;
  let hoverTimer: ReturnType<typeof setTimeout> | null = null;
  /** Rows that changed by themselves. */
  const late = createLateDraws(drawSlot);

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
    if (slot.element.root.parentNode === null) elements?.place.append(slot.element.root);
  }

  const length = (structure: ListStructure): number =>
    structure.total === null ? linesWhileLoading : structure.length;

  /** Puts the lines in view into the pool. `all`: what they are may have changed, not only which they are. */
  function place(all: boolean, top: number): void {
    if (elements === null || shown === null) return;
    const { structure } = shown;
    const count = length(structure);
    // As many lines wherever it stands, so that each element leaves one line for another and never the page.
    const size = Math.ceil(height / rowHeight) + 1 + 2 * overscan;
    const first = Math.max(0, Math.min(count - size, Math.floor(top / rowHeight) - overscan));
    const last = Math.min(count, first + size) - 1;
    if (!all && first === range.first && last === range.last) return;
    const before = range;
    if (!all) late.moved(Math.abs(first - before.first));
    range = { first, last };
    while (slots.length < size) newSlot();
    for (const slot of slots.splice(size)) clearSlot(slot);
    const seen: number[] = [];
    for (let line = first; line <= last; line += 1) {
      // Where only the place is another one, a line that was in view is there.
      if (!all && line >= before.first && line <= before.last) continue;
      const row = structure.rowAt(line);
      const slot = slots[line % size];
      if (slot === undefined) continue;
      if (row.kind === 'more' || row.kind === 'failed') {
        seen.push(line);
        clearSlot(slot);
      } else if (slot.line !== line || slot.row === null || !sameRow(slot.row, row))
        fillSlot(slot, line, row);
    }
    for (const slot of slots) {
      if (slot.row !== null && (slot.line < first || slot.line > last)) clearSlot(slot);
    }
    markActive();
    const still = all ? [] : others.filter((line) => line >= first && line <= last);
    if (seen.length > 0 || still.length !== others.length) onOthers((others = [...still, ...seen]));
    onRange(first, Math.max(first, last));
  }

  function hover(): void {
    hoverTimer = null;
    const wait = scrolledAtMs + restMs - performance.now();
    if (wait > 0) {
      hoverTimer = setTimeout(hover, wait);
      return;
    }
    const root = pointed?.closest('[role="row"]') ?? null;
    const next = root === null ? null : (slots.find(({ element }) => element.root === root) ?? null);
    if (next === hovered) return;
    const before = hovered;
    hovered = next;
    if (before !== null) drawSlot(before);
    if (next !== null) drawSlot(next);
  }

  function point(element: Element | null): void {
    pointed = element;
    if (hoverTimer === null) hover();
  }

  function jobAt(
    target: EventTarget | null,
  ): { readonly id: string; readonly action: Element | null } | null {
    if (!(target instanceof Element)) return null;
    const root = target.closest('[role="row"]');
    const row = slots.find(({ element }) => element.root === root)?.row ?? null;
    return row?.kind === 'job' ? { id: row.id, action: target.closest('button') } : null;
  }

  function onClick(event: MouseEvent): void {
    const found = jobAt(event.target);
    if (found === null || shown === null) return;
    const { handlers } = shown;
    const { id, action } = found;
    // The link of the name leads where the row does.
    event.preventDefault();
    if (action !== null) {
      act(action.getAttribute(actionAttribute) as RowAction | null, id, event, action);
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
    const found = jobAt(event.target);
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
        scrolledAtMs = performance.now();
        // Nothing was changed yet since the last frame: reading it costs nothing here.
        const top = scroller.scrollTop;
        given.onScroll(top);
        place(false, top);
      };
      const onOver = (event: MouseEvent) => {
        point(event.target instanceof Element ? event.target : null);
      };
      const onLeave = () => {
        point(null);
      };
      scroller.addEventListener('scroll', onScroll, { passive: true });
      rows.addEventListener('click', onClick);
      rows.addEventListener('contextmenu', onMenu);
      rows.addEventListener('mouseover', onOver);
      rows.addEventListener('mouseleave', onLeave);
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
        if (hoverTimer !== null) clearTimeout(hoverTimer);
        hoverTimer = null;
        late.stop();
        scroller.removeEventListener('scroll', onScroll);
        rows.removeEventListener('click', onClick);
        rows.removeEventListener('contextmenu', onMenu);
        rows.removeEventListener('mouseover', onOver);
        rows.removeEventListener('mouseleave', onLeave);
        for (const slot of slots) clearSlot(slot);
        range = { first: 0, last: -1 };
        others = [];
        elements = null;
      };
    },
    show(next) {
      const before = shown;
      shown = next;
      if (before?.structure === next.structure && before.showEnd === next.showEnd && range.last >= 0) return;
      place(true, elements?.scroller.scrollTop ?? 0);
      // Other columns of the same rows.
      if (before?.structure.flat !== next.structure.flat || before.showEnd !== next.showEnd) drawAll();
    },
    scrolled() {
      place(false, elements?.scroller.scrollTop ?? 0);
    },
  };
}
