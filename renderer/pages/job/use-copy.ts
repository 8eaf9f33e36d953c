import { useCallback } from 'react';
import { useToast } from '../../components/toasts.js';
import { job as words } from '../../strings/job.js';

/** Copies a text to the clipboard and says what was copied, with what `lacks` in it, or that it was not. */
export function useCopy(): (text: string, what: string, lacks?: string) => void {
  const toast = useToast();
  return useCallback(
    (text, what, lacks = '') => {
      navigator.clipboard.writeText(text).then(
        () => {
          toast({ tone: 'info', text: `${words.copied(what)} ${lacks}`.trim() });
        },
        () => {
          toast({ tone: 'error', text: words.copyFailed });
        },
      );
    },
    [toast],
  );
}
