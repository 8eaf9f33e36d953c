/** The words of a desktop notification. Pure. */
import { formatWhole } from '../../core/formats/counts.js';
import { formatDuration } from '../../core/formats/durations.js';
import { ended } from '../../core/formats/last-words.js';
import { showTimes, timeInSentence } from '../../core/formats/times.js';
import type { JobState } from '../../core/contract/states.js';
import type { InboxItem } from '../../core/contract/views.js';

export interface NotificationText {
  readonly title: string;
  readonly body: string;
}

const endings: Readonly<Record<JobState, string>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  KILLED: 'was stopped',
  WORKER_FAILED: 'lost its machine',
  UNSCHEDULABLE: 'could not start',
  // Of one that goes on a warning is told.
  PENDING: 'has a warning',
  RUNNING: 'has a warning',
};

const groupEndings: readonly { readonly state: JobState; readonly words: string }[] = [
  { state: 'FAILED', words: 'failed' },
  { state: 'WORKER_FAILED', words: 'lost their machine' },
  { state: 'UNSCHEDULABLE', words: 'could not start' },
  { state: 'KILLED', words: 'stopped' },
  { state: 'SUCCEEDED', words: 'succeeded' },
];

const isOver = ({ state }: InboxItem): boolean => state !== 'RUNNING' && state !== 'PENDING';

const mostNames = 4;

/** As the window writes times within a sentence. Made when a notification has one: the first costs the start more than all else here. */
let madeClock: Intl.DateTimeFormat | null = null;
const clock = (): Intl.DateTimeFormat => (madeClock ??= new Intl.DateTimeFormat('en-GB', timeInSentence));

export function notificationText(items: readonly InboxItem[]): NotificationText {
  const [first] = items;
  if (first === undefined) return { title: '', body: '' };
  if (items.length === 1) {
    const parts = [
      ...(first.cause === null ? [] : [ended(showTimes(first.cause.message, (ms) => clock().format(ms)))]),
      ...(first.durationMs === null ? [] : [`Ran ${formatDuration(first.durationMs)}.`]),
    ];
    return { title: `${plain(first.jobName)} ${endings[first.state]}`, body: plain(parts.join(' ')) };
  }
  const counts = groupEndings
    .map(({ state, words }) => ({ count: items.filter((item) => item.state === state).length, words }))
    .filter(({ count }) => count > 0)
    .map(({ count, words }) => `${formatWhole(count)} ${words}`);
  const warned = items.filter((item) => !isOver(item)).length;
  if (warned > 0) counts.push(`${formatWhole(warned)} with a warning`);
  const names = items.slice(0, mostNames).map((item) => plain(item.jobName));
  const more = items.length - names.length;
  return {
    title: `${formatWhole(items.length)} ${warned === 0 ? 'jobs ended' : 'messages of jobs'}: ${counts.join(', ')}`,
    body: more > 0 ? `${names.join(', ')} and ${formatWhole(more)} more` : names.join(', '),
  };
}

/** Names are the users' own text: a control character has no business there. What a daemon reads as mark-up is seen to where it is shown. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
