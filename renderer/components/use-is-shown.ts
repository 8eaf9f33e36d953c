/** Whether the component is still there when something it began comes to its end. */
import { useEffect, useRef, type RefObject } from 'react';

export function useIsShown(): RefObject<boolean> {
  const shown = useRef(true);
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  return shown;
}
