import { useEffect, useState } from 'react';

/** The first page is mostly drawn by then. */
const laterMs = 300;

/**
 * True a moment after the component has come up: for what the first page does not show, such as dialogs that nobody has opened, and which
 * would otherwise be a good part of the work before it is drawn.
 */
export function useLater(): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setLater(true);
    }, laterMs);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return later;
}
