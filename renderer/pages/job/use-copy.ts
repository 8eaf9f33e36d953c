import { useCallback } from 'react';
import { useToast } from '../../components/toasts.js';
import { job as words } from '../../strings/job.js';

/** Copies a text to the clipboard and says what was copied, or that it was not. */
export function useCopy(): (text: string, what: string) => void {
  const toast = useToast();
  return useCallback(
    (text, what) => {
      navigator.clipboard.writeText(text).then(
        () => {
          toast({ tone: 'info', text: words.copied(what) });
        },
        () => {
          toast({ tone: 'error', text: words.copyFailed });
        },
      );
    },
    [toast],
  );
}
