/** A list of rows with its button to add one: the keys go on where the row was added or taken away. */
import { useEffect, useRef, type ReactNode } from 'react';

export interface RowsProps {
  readonly count: number;
  /** The rows first, then the rest, the button to add one last. */
  readonly children: ReactNode;
}

export function Rows({ count, children }: RowsProps) {
  const list = useRef<HTMLDivElement>(null);
  const before = useRef(count);
  useEffect(() => {
    const added = count - before.current;
    before.current = count;
    if (list.current === null || added === 0) return;
    const active = document.activeElement;
    const last = count === 0 ? null : list.current.children[count - 1];
    if (added > 0) {
      // Not what a pasted line or a job has filled in.
      if (list.current.contains(active)) last?.querySelector<HTMLElement>('input, textarea')?.focus();
      return;
    }
    if (active !== null && active !== document.body) return;
    const buttons = (last ?? list.current).querySelectorAll<HTMLElement>('button');
    buttons[buttons.length - 1]?.focus();
  }, [count]);
  return (
    <div ref={list} style={{ display: 'contents' }}>
      {children}
    </div>
  );
}
