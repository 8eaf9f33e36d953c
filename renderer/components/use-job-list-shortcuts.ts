import { jobListKeys as words } from '../strings/jobs.js';
import { useShortcuts, type Shortcut } from './shortcuts.js';

export interface JobListKeys {
  /** Lines seen at once. */
  readonly page: () => number;
  /** `extend`: from where the selection began. These return false where it is not the list that is meant. */
  readonly move: (by: number, extend?: boolean) => unknown;
  readonly toEnd: (end: 'first' | 'last') => unknown;
  /** Both are of the active line. */
  readonly open: () => unknown;
  readonly toggle: () => unknown;
}

/** Keys by which a long list of jobs is gone through and selected from, and behind them those it has besides. */
export function useJobListShortcuts(title: string, keys: JobListKeys, others: readonly Shortcut[]): void {
  const { page, move, toEnd, open, toggle } = keys;
  useShortcuts(title, [
    {
      keys: ['j', 'ArrowDown'],
      label: words.move,
      shown: ['j', 'k', 'ArrowDown', 'ArrowUp'],
      run: () => move(1),
    },
    { keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { keys: 'PageDown', run: () => move(page()) },
    { keys: 'PageUp', run: () => move(-page()) },
    { keys: 'Home', label: words.ends, shown: ['Home', 'End'], run: () => toEnd('first') },
    { keys: 'End', run: () => toEnd('last') },
    { keys: 'Enter', label: words.open, run: open },
    { keys: 'Space', label: words.select, run: toggle },
    {
      keys: ['shift+ArrowDown', 'shift+j'],
      label: words.extend,
      shown: ['shift+ArrowDown', 'shift+ArrowUp'],
      run: () => move(1, true),
    },
    { keys: ['shift+ArrowUp', 'shift+k'], run: () => move(-1, true) },
    ...others,
  ]);
}
