/** Stop and Run again with their one question, their outcome and their errors: the same from the list, a job's page and the palette. */
import { useMemo } from 'react';
import { currentRoute, jobRoute, navigate } from '../app/router.js';
import type { Refusal } from '../../core/contract/errors.js';
import type { JobSummary } from '../../core/contract/views.js';
import type { JobChange } from '../../core/contract/queue.js';
import { canRunAgain, canStop } from '../state/job-actions.js';
import { changeJobs } from '../state/job-changes.js';
import { useDesktop } from '../state/desktop-context.js';
import { asRefusal } from '../state/hooks.js';
import { outcomeText } from '../strings/common.js';
import { jobs as words } from '../strings/jobs.js';
import { useConfirm } from './confirm.js';
import { useToast } from './toasts.js';

export interface JobActionFunctions {
  /** Asks once, then stops those that have not ended. Resolves true when the command was given. */
  readonly stop: (rows: readonly JobSummary[]) => Promise<boolean>;
  /** Runs ended jobs again; asks only when there are several. Resolves true when the command was given. What was made is told, with the way there. */
  readonly runAgain: (rows: readonly JobSummary[]) => Promise<boolean>;
  /** Holds or releases jobs that wait. Nothing is lost by it, so nothing is asked. */
  readonly change: (rows: readonly JobSummary[], change: JobChange) => Promise<boolean>;
  /** Runs the job of the page again and leads to the new one: that is what is looked at next. */
  readonly runAgainHere: (row: JobSummary) => Promise<boolean>;
}

const mostNamed = 5;

function namesOf(rows: readonly JobSummary[]): string {
  const names = rows.slice(0, mostNamed).map((row) => row.name);
  return rows.length > mostNamed
    ? words.namesMore(names.join(', '), rows.length - mostNamed)
    : names.join(', ');
}

function ranMs(row: JobSummary, nowMs: number): number | null {
  return row.startedAtMs === null ? null : Math.max(0, nowMs - row.startedAtMs);
}

export function stopQuestion(
  rows: readonly JobSummary[],
  nowMs: number,
): { title: string; body: string; action: string } {
  const first = rows[0];
  const ran = rows.flatMap((row) => ranMs(row, nowMs) ?? []);
  const longest = ran.length === 0 ? null : Math.max(...ran);
  if (rows.length === 1 && first !== undefined) {
    const body = longest === null ? words.stopBodyWaiting : words.stopBodyRan(longest);
    return {
      title: words.stopTitle(first.name),
      body: first.childCount > 0 ? `${body} ${words.stopBodyChildren(first.childCount)}` : body,
      action: words.stopMany(1),
    };
  }
  return {
    title: words.stopTitleMany(rows.length),
    body: words.stopBodyMany(namesOf(rows), longest),
    action: words.stopMany(rows.length),
  };
}

interface Failures {
  readonly one: (name: string, message: string) => string;
  readonly many: (failed: number, all: number, message: string) => string;
}

const runFailures: Failures = { one: words.runFailed, many: words.runFailedMany };
const stopFailures: Failures = { one: words.stopFailed, many: words.stopFailedMany };
const changeFailures: Failures = { one: words.changeFailed, many: words.changeFailedMany };

export function useJobActions(): JobActionFunctions {
  const { actions, host } = useDesktop();
  const confirm = useConfirm();
  const toast = useToast();

  return useMemo<JobActionFunctions>(() => {
    const tellFailed = (
      failures: Failures,
      targets: readonly JobSummary[],
      failed: number,
      reason: Refusal,
    ): void => {
      const [only, second] = targets;
      const text = outcomeText(reason, (message) =>
        only !== undefined && second === undefined
          ? failures.one(only.name, message)
          : failures.many(failed, targets.length, message),
      );
      toast({ tone: 'error', text });
    };
    const run = async (rows: readonly JobSummary[], open: boolean): Promise<boolean> => {
      const targets = rows.filter(canRunAgain);
      if (targets.length === 0) {
        toast({ tone: 'info', text: words.nothingToRun(rows.length) });
        return false;
      }
      if (
        targets.length > 1 &&
        !(await confirm({
          title: words.runTitleMany(targets.length),
          body: words.runBodyMany(namesOf(targets)),
          action: words.runAgainMany(targets.length),
        }))
      ) {
        return false;
      }
      try {
        const results = await actions.runAgain(targets.map((row) => row.id));
        const refused = results.flatMap((result) => result.refusal ?? []);
        const made = results.flatMap((result) => result.newId ?? []);
        const firstRefused = refused[0];
        const firstMade = made[0];
        if (firstRefused !== undefined) {
          tellFailed(runFailures, targets, refused.length, firstRefused);
        }
        const shown = currentRoute();
        const isHere = shown.page === 'job' && shown.jobId === targets[0]?.id;
        if (firstMade !== undefined && open && isHere) navigate(jobRoute(firstMade));
        else if (firstMade !== undefined) {
          toast({
            tone: 'info',
            text:
              made.length === 1
                ? words.runAgainDone(firstMade.slice(firstMade.lastIndexOf('/') + 1))
                : words.runAgainDoneMany(made.length),
            ...(made.length === 1
              ? {
                  action: {
                    label: words.show,
                    run: () => {
                      navigate(jobRoute(firstMade));
                    },
                  },
                }
              : {}),
          });
        }
        return true;
      } catch (error) {
        tellFailed(runFailures, targets, targets.length, asRefusal(error));
        return false;
      }
    };
    return {
      runAgain: (rows) => run(rows, false),
      runAgainHere: (row) => run([row], true),
      async change(rows, change) {
        if (
          rows.length > 1 &&
          !(await confirm({
            title: words.changeTitleMany(change, rows.length),
            body: words.changeBodyMany(change, namesOf(rows)),
            action: words.changeAction(change),
          }))
        ) {
          return false;
        }
        const refused = await changeJobs(
          host,
          rows.map((row) => row.id),
          change,
        );
        const [first] = refused.values();
        if (first !== undefined) tellFailed(changeFailures, rows, refused.size, first);
        return refused.size < rows.length;
      },
      async stop(rows) {
        const targets = rows.filter(canStop);
        if (targets.length === 0) {
          toast({ tone: 'info', text: words.nothingToStop(rows.length) });
          return false;
        }
        if (!(await confirm({ ...stopQuestion(targets, Date.now()), danger: true }))) return false;
        try {
          const results = await actions.stop(targets.map((row) => row.id));
          const refused = results.flatMap((result) => result.refusal ?? []);
          const first = refused[0];
          if (first !== undefined) tellFailed(stopFailures, targets, refused.length, first);
          return true;
        } catch (error) {
          tellFailed(stopFailures, targets, targets.length, asRefusal(error));
          return false;
        }
      },
    };
  }, [actions, host, confirm, toast]);
}
