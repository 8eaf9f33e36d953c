/**
 * What the controller says about the request as it is being written: asked a moment after the last change, and again while the form is
 * looked at, as what is free comes and goes; the last answer wins.
 */
import { useEffect, useState } from 'react';
import type { MethodResult } from '../../../core/contract/api.js';
import type { Refusal } from '../../../core/contract/errors.js';
import type { JobRequest } from '../../../core/contract/job-request.js';
import { asRefusal } from '../../state/hooks.js';
import { useHost } from '../../state/desktop-context.js';

export type CheckState =
  | { readonly kind: 'answered'; readonly answer: MethodResult<'job.check'> }
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'none' };

const debounceMs = 150;
const againMs = 15_000;

/** `request` null: nothing to ask about. */
export function useCheck(request: JobRequest | null): CheckState {
  const host = useHost();
  const [state, setState] = useState<CheckState>({ kind: 'none' });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const again = () => {
      if (document.visibilityState === 'visible') setTurn((before) => before + 1);
    };
    const timer = setInterval(again, againMs);
    const stop = host.connection.subscribe(() => {
      if (host.connection.get().kind === 'connected') again();
    });
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      stop();
      document.removeEventListener('visibilitychange', again);
    };
  }, [host]);
  const text = request === null ? null : JSON.stringify(request);
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(() => {
      if (text === null) {
        setState({ kind: 'none' });
        return;
      }
      // Parsed again so that the effect depends on the content, not on the object.
      host.call('job.check', { request: JSON.parse(text) as JobRequest }).then(
        (answer) => {
          if (wanted) setState({ kind: 'answered', answer });
        },
        (error: unknown) => {
          if (wanted) setState({ kind: 'failed', refusal: asRefusal(error) });
        },
      );
    }, debounceMs);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [host, text, turn]);
  return state;
}
