/** Why something was refused, for the place where it was asked for; where that has been left before the answer, as a message elsewhere. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { useIsShown } from './use-is-shown.js';
import { useToast } from './toasts.js';

/** `elsewhere`: the same in words that name what it is about. */
export function useRefused(
  elsewhere: (message: string) => string,
): readonly [refused: string | null, tell: (message: string | null) => void] {
  const [refused, setRefused] = useState<string | null>(null);
  const isShown = useIsShown();
  const toast = useToast();
  const latest = useRef(elsewhere);
  useEffect(() => {
    latest.current = elsewhere;
  });
  const tell = useCallback(
    (message: string | null) => {
      if (isShown.current) setRefused(message);
      else if (message !== null) toast({ tone: 'error', text: latest.current(message) });
    },
    [isShown, toast],
  );
  return [refused, tell];
}
