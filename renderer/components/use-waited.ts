import { useEffect, useState } from 'react';

/** True once `waiting` has been true for so long without a pause. */
export function useWaited(waiting: boolean, ms: number): boolean {
  const [waited, setWaited] = useState(false);
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setTimeout(() => {
      setWaited(true);
    }, ms);
    return () => {
      clearTimeout(timer);
      setWaited(false);
    };
  }, [waiting, ms]);
  return waiting && waited;
}
