/**
 * What leaving a field brings about may move what is below it. Left by a press of the pointer, that waits until the click has reached what
 * was pressed; a click whose target moves away between press and release is none.
 */
import { useCallback, useEffect, useRef } from 'react';

export function useAfterPress(): (run: () => void) => void {
  const waiting = useRef<(() => void)[]>([]);
  const pressed = useRef(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const press = () => {
      pressed.current = true;
    };
    const release = () => {
      pressed.current = false;
      // The click comes right behind the release.
      timer = setTimeout(() => {
        for (const run of waiting.current.splice(0)) run();
      });
    };
    window.addEventListener('pointerdown', press, true);
    for (const end of ['pointerup', 'pointercancel', 'blur'] as const)
      window.addEventListener(end, release, end !== 'blur');
    return () => {
      clearTimeout(timer);
      window.removeEventListener('pointerdown', press, true);
      for (const end of ['pointerup', 'pointercancel', 'blur'] as const)
        window.removeEventListener(end, release, end !== 'blur');
    };
  }, []);
  return useCallback((run) => {
    if (pressed.current) waiting.current.push(run);
    else run();
  }, []);
}
