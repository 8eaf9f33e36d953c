/** Where the focus goes when a dialog closes that was opened from a menu. */
import { useEffect, useRef } from 'react';

/** Later than Mantine's own try, which ends at the item of the menu: that is gone by then. */
const afterMs = 30;

/** Gives the focus back to what had it on the page, outside of any menu or dialog, when `opened` ends and nothing else has taken it. */
export function useFocusBack(opened: boolean): void {
  const last = useRef<HTMLElement | null>(null);
  const wasOpened = useRef(opened);

  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && target.closest('[role="menu"], [role="dialog"]') === null)
        last.current = target;
    };
    document.addEventListener('focusin', note);
    return () => {
      document.removeEventListener('focusin', note);
    };
  }, []);

  useEffect(() => {
    const closed = wasOpened.current && !opened;
    wasOpened.current = opened;
    if (!closed) return undefined;
    const timer = setTimeout(() => {
      const active = document.activeElement;
      // The dialog that fades out may hold it still.
      if (active !== null && active !== document.body && active.closest('[role="dialog"]') === null) return;
      if (last.current?.isConnected === true) last.current.focus({ preventScroll: true });
    }, afterMs);
    return () => {
      clearTimeout(timer);
    };
  }, [opened]);
}
