/** Where the focus goes when a row of the budgets is no longer edited: its fields are gone. */
import { useEffect, useRef, type RefObject } from 'react';

/** The row being edited: a user, or a new one. */
export type Editing = { readonly kind: 'user'; readonly user: string } | { readonly kind: 'new' } | null;

/** Back to the button the editing began with, unless something else has the focus by then. */
export function useEditFocus(
  editing: Editing,
  addButton: RefObject<HTMLButtonElement | null>,
  rows: RefObject<HTMLElement | null>,
): void {
  const before = useRef<Editing>(null);
  useEffect(() => {
    const ended = editing === null ? before.current : null;
    before.current = editing;
    if (ended === null) return;
    const active = document.activeElement;
    // The question that was answered may hold it until it has faded.
    if (active !== null && active !== document.body && active.closest('[role="dialog"]') === null) return;
    const buttons = [...(rows.current?.querySelectorAll<HTMLElement>('[data-edits]') ?? [])];
    const button =
      ended.kind === 'new'
        ? addButton.current
        : buttons.find((found) => found.getAttribute('data-edits') === ended.user);
    button?.focus();
  }, [editing, addButton, rows]);
}
