/** Strings of the Activity page, and of the events a machine's page lists. */
import { formatCount } from './common.js';

/** Actions in words; one that is not known is shown as it is written. */
const actionWords: Readonly<Record<string, string>> = {
  job_submitted: 'Job submitted',
  job_started: 'Job started',
  job_completed: 'Job ended',
  job_cancelled: 'Job stopped',
  job_replaced: 'Job replaced',
  job_changed: 'Job changed',
  job_pruned: 'Job forgotten',
  task_assigned: 'Task placed',
  task_claimed: 'Place promised',
  task_released: 'Place given up',
  task_retry_scheduled: 'Task to run again',
  task_ended: 'Task ended',
  task_unschedulable: 'Task cannot run',
  attempt_started: 'Attempt started',
  attempt_warned: 'Warning about an attempt',
  attempt_notified: 'Attempt told to leave',
  attempt_ended: 'Attempt ended',
  attempt_verified_gone: 'Attempt verified gone',
  attempt_adopted: 'Attempt taken up again',
  worker_registered: 'Machine added',
  worker_changed: 'Machine changed',
  worker_removed: 'Machine removed',
  caches_emptied: 'Caches emptied',
  worker_drained: 'Machine drained',
  worker_lost: 'Machine lost',
  budget_set: 'Budget changed',
  host_started: 'Controller started',
  host_stopped: 'Controller stopped',
};

export function actionWord(action: string): string {
  const known = actionWords[action];
  if (known !== undefined) return known;
  const words = action.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const activity = {
  title: 'Activity',
  what: 'The activity',
  list: 'What happened, newest first',
  shown: (count: number, more: boolean): string =>
    more ? `the newest ${formatCount(count)} looked through` : `${formatCount(count)} in all`,
  when: 'When',
  who: 'Who',
  action: 'What',
  entity: 'Of',
  detail: 'Details',
  noDetail: 'There is nothing more to say of it.',
  controller: 'controller',
  // Filters
  filters: 'Filter the activity',
  entityField: 'Of which job, machine or user',
  entityExample: '/anna/train, machine/ws-2, /anna',
  actorAll: 'By anybody',
  actionAll: 'Anything',
  actorField: 'By whom',
  actionField: 'What happened',
  clear: 'Clear',
  older: 'Older',
  loadingOlder: 'Loading older',
  olderFailed: (message: string): string => `Older ones could not be loaded. ${message}`,
  nothing: 'Nothing in what was looked through matches.',
  lookFurther: 'Look further back',
  emptyTitle: 'Nothing has happened yet',
  emptyBody:
    'Each submission, start, end and change is written down here with who did it and when. It cannot be changed afterwards.',
  emptyExample: 'irisctl job run -- echo hello',
  // Keys
  keysTitle: 'Activity',
  keyFilter: 'Filter by job, machine or user',
} as const;
