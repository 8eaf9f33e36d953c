/** The log of one attempt, with the choice of task and attempt. */
import { Select } from '@mantine/core';
import { EmptyState } from '../../components/feedback.js';
import { LogView } from '../../components/log-view/log-view.js';
import { StateBadge } from '../../components/state-badge.js';
import { RunningFor } from '../../components/time.js';
import { isActiveTaskState, isTerminalJobState } from '../../../core/contract/states.js';
import type { AttemptView, JobSummary, TaskView } from '../../../core/contract/views.js';
import { leavesLogWhole, logCutCodes, logCutOf } from '../../../core/formats/log-cut.js';
import { localTimes, stateWords } from '../../strings/common.js';
import { job as words } from '../../strings/job.js';
import { endingText, failedAttempt } from './endings.js';
import type { JobPlace, JobTab } from './job-tab.js';
import styles from './job-page.module.css';

export interface LogTabProps {
  readonly summary: JobSummary;
  readonly tasks: readonly TaskView[];
  readonly place: JobPlace;
  readonly onPlace: (tab: JobTab, task: number | null, attempt: number | null) => void;
}

/** The task somebody most likely wants: the failed one, else the first that runs, else the first that ran. */
export function likelyTask(summary: JobSummary, tasks: readonly TaskView[]): TaskView | undefined {
  const failed = summary.state === 'SUCCEEDED' ? undefined : failedAttempt(tasks)?.task;
  return (
    (failed !== undefined && failed.attempts.length > 0 ? failed : undefined) ??
    tasks.find((task) => isActiveTaskState(task.state)) ??
    tasks.find((task) => task.attempts.length > 0) ??
    tasks[0]
  );
}

/** Select draws every option it is given; more are found by typing. */
const mostOptions = 200;

export function LogTab({ summary, tasks, place, onPlace }: LogTabProps) {
  const task = tasks.find((candidate) => candidate.index === place.task) ?? likelyTask(summary, tasks);
  const attempt =
    task?.attempts.find((candidate) => candidate.number === place.attempt) ?? task?.attempts.at(-1);
  const taskPicker =
    task === undefined || tasks.length < 2 ? null : (
      <Select
        aria-label={words.pickTask}
        w={190}
        searchable
        allowDeselect={false}
        limit={mostOptions}
        maxDropdownHeight={320}
        value={String(task.index)}
        data={tasks.map((item) => ({
          value: String(item.index),
          label: words.taskOption(item.index, stateWords[item.state].toLowerCase()),
        }))}
        onChange={(value) => {
          if (value !== null) onPlace('logs', Number(value), null);
        }}
      />
    );
  if (task === undefined || attempt === undefined) {
    return (
      <>
        {taskPicker === null ? null : <div style={{ padding: '5px 16px' }}>{taskPicker}</div>}
        {isTerminalJobState(summary.state) ? (
          <EmptyState icon="file" title={words.neverRanTitle}>
            {words.neverRanBody}
          </EmptyState>
        ) : (
          <EmptyState icon="clock" title={words.noAttemptTitle}>
            {words.noAttemptBody}
          </EmptyState>
        )}
      </>
    );
  }
  const attemptPicker =
    task.attempts.length < 2 ? null : (
      <Select
        aria-label={words.pickAttempt}
        w={200}
        allowDeselect={false}
        value={String(attempt.number)}
        data={[...task.attempts].reverse().map((item, index) => ({
          value: String(item.number),
          label: words.attemptOption(item.number + 1, stateWords[item.state].toLowerCase(), index === 0),
        }))}
        onChange={(value) => {
          if (value !== null) onPlace('logs', task.index, Number(value));
        }}
      />
    );
  const warnings = attempt.warnings.filter(({ code }) => logCutCodes.has(code));
  const warning = warnings.find((told) => !leavesLogWhole(told)) ?? warnings[0];
  const cut = logCutOf(attempt.warnings);
  const view = (
    <LogView
      key={`${attempt.uid} ${cut?.out ?? ''} ${cut?.err ?? ''}`}
      attemptUid={attempt.uid}
      cut={cut}
      fileName={`${summary.name}${summary.numTasks > 1 ? `-${task.index}` : ''}.log`}
      running={attempt.finishedAtMs === null}
      status={<AttemptStatus attempt={attempt} />}
      pickers={
        <>
          {taskPicker}
          {attemptPicker}
        </>
      }
    />
  );
  if (warning === undefined) return view;
  return (
    <>
      <section
        className={styles['callout']}
        data-tone="waiting"
        aria-label={leavesLogWhole(warning) ? words.logWaits : words.logMayBeCut}
      >
        <p>{words.warning(localTimes(warning.message))}</p>
      </section>
      {view}
    </>
  );
}

function AttemptStatus({ attempt }: { readonly attempt: AttemptView }) {
  const ending = endingText(attempt);
  const details = [
    ...(ending === null ? [] : [ending]),
    ...(attempt.durationMs === null ? [] : [words.after(attempt.durationMs)]),
    ...(attempt.workerId === null ? [] : [words.runsOn(attempt.workerId)]),
  ];
  return (
    <>
      <StateBadge state={attempt.state} />
      {attempt.durationMs === null && attempt.startedAtMs !== null && attempt.finishedAtMs === null ? (
        <RunningFor startedAtMs={attempt.startedAtMs} />
      ) : null}
      <span className="iris-muted iris-ellipsis">{details.join(' ')}</span>
    </>
  );
}
