/** Keys of the queue. They act on the selection, or on the active job when nothing is selected. */
import { useEffect, useRef, type RefObject } from 'react';
import type { JobChange, QueuedJobView } from '../../../core/contract/queue.js';
import { useJobListShortcuts } from '../../components/use-job-list-shortcuts.js';
import type { Selection } from '../jobs/selection.js';
import { queue as words } from '../../strings/queue.js';
import { queueRowId, type ListControl } from './queue-list.js';
import type { JobLines } from './queue-lines.js';

export interface QueueKeysOptions {
  readonly index: JobLines;
  readonly selection: Selection;
  readonly control: RefObject<ListControl | null>;
  readonly chosen: readonly QueuedJobView[];
  readonly open: (id: string) => void;
  readonly stop: () => void;
  readonly change: (change: JobChange) => void;
  readonly openBands: () => void;
  readonly menu: (id: string, x: number, y: number) => void;
}

/** Ids from one job to another, in order. */
export function idsBetween(index: JobLines, from: string, to: string): string[] {
  const a = index.ids.indexOf(from);
  const b = index.ids.indexOf(to);
  if (a < 0 || b < 0) return [to];
  return index.ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** The timeline has its own arrows. */
const inTimeline = () => (document.activeElement?.closest('[role="application"]') ?? null) !== null;

export function useQueueKeys(options: QueueKeysOptions): void {
  const { index, selection, control, chosen } = options;
  const active = selection.active();
  const activeAt = active === null ? -1 : index.ids.indexOf(active);
  /** Where the active job was when it was last seen: it may have started since. */
  const lastAt = useRef(-1);
  useEffect(() => {
    if (activeAt >= 0 || active === null) lastAt.current = activeAt;
  }, [active, activeAt]);

  const goTo = (at: number, extend = false) => {
    if (inTimeline()) return false;
    const id = index.ids[Math.max(0, Math.min(index.ids.length - 1, at))];
    if (id === undefined) return false;
    if (extend) selection.extendTo(id, (from, to) => idsBetween(index, from, to));
    else selection.setActive(id);
    control.current?.reveal(index.lineOf.get(id) ?? 0);
    control.current?.focus();
    return true;
  };
  const move = (by: number, extend = false) => {
    const now = selection.active();
    const at = now === null ? -1 : index.ids.indexOf(now);
    if (at >= 0) return goTo(at + by, extend);
    if (now === null || lastAt.current < 0) return goTo(0, extend);
    // What was below the job that left is in its place now.
    return goTo(by > 0 ? lastAt.current + by - 1 : lastAt.current + by, extend);
  };
  const withActive = (run: (id: string) => void) => {
    const id = selection.active();
    if (inTimeline() || id === null || !index.lineOf.has(id)) return false;
    run(id);
    return true;
  };
  const withChosen = (run: () => void) => {
    if (inTimeline() || chosen.length === 0) return false;
    run();
    return true;
  };
  const changed = (change: JobChange) => () =>
    withChosen(() => {
      options.change(change);
    });

  useJobListShortcuts(
    words.keysTitle,
    {
      page: () => control.current?.pageLines() ?? 10,
      move,
      toEnd: (which) => goTo(which === 'first' ? 0 : index.ids.length - 1),
      open: () => withActive(options.open),
      toggle: () =>
        withActive((id) => {
          selection.toggle(id);
        }),
    },
    [
      {
        keys: 'h',
        label: words.keyHold,
        run: () =>
          withChosen(() => {
            options.change({ kind: chosen.every((job) => job.held) ? 'release' : 'hold' });
          }),
      },
      { keys: 'alt+ArrowUp', label: words.keyFirst, run: changed({ kind: 'move', to: 'first' }) },
      { keys: 'alt+ArrowDown', label: words.keyLast, run: changed({ kind: 'move', to: 'last' }) },
      { keys: 'u', label: words.keyUsual, run: changed({ kind: 'move', to: 'usual' }) },
      { keys: 'b', label: words.keyBand, run: () => withChosen(options.openBands) },
      { keys: 'x', label: words.keyStop, run: () => withChosen(options.stop) },
      {
        keys: ['shift+F10', 'ContextMenu'],
        label: words.keyMenu,
        shown: ['shift+F10'],
        run: () =>
          withActive((id) => {
            const box = document.getElementById(queueRowId(id))?.getBoundingClientRect();
            if (box !== undefined) options.menu(id, box.left + 200, box.bottom - 4);
          }),
      },
      {
        keys: 'Escape',
        label: words.keyClear,
        run: () => {
          if (selection.count() === 0) return false;
          selection.clear();
          return true;
        },
      },
    ],
  );
}
