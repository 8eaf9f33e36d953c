/**
 * Sends what was written, once however often it is sent, and says what became of it: in the form, or, where the form was left before the
 * answer, wherever the user is by then.
 */
import { useCallback, useState } from 'react';
import type { Refusal } from '../../../core/contract/errors.js';
import type { JobRequest } from '../../../core/contract/job-request.js';
import { jobRoute, navigate, newJobRoute } from '../../app/router.js';
import { useToast } from '../../components/toasts.js';
import { useIsShown } from '../../components/use-is-shown.js';
import { useDesktop } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { newRequestId } from '../../state/request-id.js';
import { newJob as words } from '../../strings/new-job.js';
import { forgetDraft, forgetSent, keepSent, keptDraft, keptSent, type Draft } from './draft.js';

export interface Submission {
  readonly submitting: boolean;
  readonly submit: (wanted: JobRequest, draft: Draft) => void;
}

export function refusalText(reason: Refusal): string {
  return reason.code === 'DISCONNECTED' ? words.unanswered : words.notSubmitted(reason.message);
}

/** `from`: the job that is edited; `refused` is told while the form is there, null when it is sent anew. */
export function useSubmit(from: string | null, refused: (reason: Refusal | null) => void): Submission {
  const { host } = useDesktop();
  const toast = useToast();
  const [submitting, setSubmitting] = useState(false);
  const isShown = useIsShown();

  const submit = useCallback(
    (wanted: JobRequest, draft: Draft) => {
      setSubmitting(true);
      refused(null);
      // The same request sent again (after a lost connection) must not become a second job.
      const text = JSON.stringify(wanted);
      const requestId = keptSent(text) ?? newRequestId();
      keepSent(text, requestId);
      host.call('job.submit', { requestId, request: wanted, retryOf: null }).then(
        ({ jobId, warnings }) => {
          forgetSent(requestId);
          for (const warning of warnings) toast({ tone: 'info', text: warning });
          if (isShown.current) {
            forgetDraft(from);
            navigate(jobRoute(jobId));
            return;
          }
          // What was written since is another job.
          if (JSON.stringify(keptDraft(from)) === JSON.stringify(draft)) forgetDraft(from);
          toast({
            tone: 'info',
            text: words.submittedAway(jobId.slice(jobId.lastIndexOf('/') + 1)),
            action: { label: words.show, run: () => navigate(jobRoute(jobId)) },
          });
        },
        (error: unknown) => {
          const reason = asRefusal(error);
          if (isShown.current) {
            setSubmitting(false);
            refused(reason);
            return;
          }
          toast({
            tone: 'error',
            text: refusalText(reason),
            action: {
              label: words.openForm,
              run: () => navigate(newJobRoute(from, from === null ? null : 'edit')),
            },
          });
        },
      );
    },
    [host, toast, from, refused, isShown],
  );
  return { submitting, submit };
}
