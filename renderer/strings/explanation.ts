/** Why a job waits in words, beside the controller's own sentence: times in the window's clock, amounts as the window writes them. */
import { demotionText } from '../../core/contract/demotion-text.js';
import type {
  ExpectedStart,
  Explanation,
  Offer,
  Remedy,
  WaitReason,
} from '../../core/contract/explanation.js';
import type { DemotionView } from '../../core/contract/views.js';
import { formatSize } from '../../core/formats/sizes.js';
import { bandWords } from './budgets.js';
import { common, countTasks, formatCount } from './common.js';
import { formatClock } from './queue.js';

/** `placed`: with the numbers of its placement, not of now. */
export function demotedText(
  { requested, effective, user, spend, limit }: DemotionView,
  placed: boolean,
): string {
  const [asked, now] = [bandWords[requested].toLowerCase(), bandWords[effective].toLowerCase()];
  return `Demoted to ${now}, asked for ${asked}, because ${user} ${placed ? 'had' : 'has'} ${formatCount(spend)} of ${formatCount(limit)} in use${placed ? ' when it was placed' : ''}.`;
}

type Demotion = Extract<WaitReason, { kind: 'demoted' }>;

const demotionIn = ({ reasons }: Explanation): Demotion | undefined =>
  reasons.find((reason) => reason.kind === 'demoted');

/** The controller's sentences of an explanation, with bands and amounts as the window writes them. */
export function explainedText(message: string, value: Explanation | null): string {
  const found = value === null ? undefined : demotionIn(value);
  if (found === undefined) return message;
  const view: DemotionView = { ...found, requested: found.asked, atMs: 0 };
  return message.replace(demotionText(view, false), () => demotedText(view, false));
}

export function remedyText(remedy: Remedy, value: Explanation): string {
  const found = demotionIn(value);
  if (remedy.kind !== 'raise-limit' || found === undefined) return remedy.text;
  return `It competes as ${bandWords[found.asked].toLowerCase()} again when ${remedy.user} uses no more than ${formatCount(found.limit)}, or with a limit of at least ${formatCount(remedy.limit)}.`;
}

function lackText({ resource, needed, free, total, others }: Offer['lacks'][number]): string {
  const theirs = (text: string) => (others === undefined ? '' : `, ${text} with jobs of other controllers`);
  switch (resource) {
    case 'cpu':
      return `${formatCount(needed / 1000)} cores needed, ${formatCount(free / 1000)} of ${formatCount(total / 1000)} free${theirs(formatCount((others ?? 0) / 1000))}`;
    case 'memory':
      return `${formatSize(needed)} of memory needed, ${formatSize(free)} of ${formatSize(total)} free${theirs(formatSize(others ?? 0))}`;
    case 'gpu':
      return `${formatCount(needed)} ${needed === 1 ? 'GPU' : 'GPUs'} needed, ${formatCount(free)} of ${formatCount(total)} free`;
  }
}

/** What else is known of a reason; null where the controller's sentence says it all. */
export function reasonDetail(reason: WaitReason): string | null {
  switch (reason.kind) {
    case 'position': {
      const users = reason.users.map(({ user, tasks }) => `${user} ${formatCount(tasks)}`).join(', ');
      return `${countTasks(reason.ahead)} ahead of it in ${bandWords[reason.band].toLowerCase()}: ${users}.`;
    }
    case 'capacity': {
      const { best, possible } = reason;
      const offer = `Nearest is ${best.workerId}: ${best.lacks.map(lackText).join('; ')}.`;
      const others =
        best.gpusUsedByOthers === 0
          ? ''
          : ` ${formatCount(best.gpusUsedByOthers)} of its GPUs are used by ${best.gpuUsers === undefined ? 'others' : best.gpuUsers.join(', ')}.`;
      const sick =
        best.gpusNotAnswering === 0
          ? ''
          : ` ${formatCount(best.gpusNotAnswering)} of its GPUs do not answer.`;
      const kept =
        best.gpusKept === 0
          ? ''
          : ` ${formatCount(best.gpusKept)} of its GPUs ${best.gpusKept === 1 ? 'is' : 'are'} kept from jobs; its page says why.`;
      return `${offer}${others}${sick}${kept} ${formatCount(possible)} ${possible === 1 ? 'machine' : 'machines'} could run it when empty.`;
    }
    default:
      return null;
  }
}

export function expectedText(expected: ExpectedStart, nowMs: number): string {
  const at = expected.startMs === null ? '' : formatClock(expected.startMs, nowMs);
  switch (expected.kind) {
    case 'now':
      return 'Expected to start now.';
    case 'at':
      return `Expected to start at ${at}, by known time limits.`;
    case 'after':
      return `Starts after ${at}; further ahead nobody has looked.`;
    case 'unknown':
      return 'Nobody knows when it starts: nothing that is known to end makes room for it.';
  }
}

export const explanation = {
  wouldHelp: 'What would make it start',
  assumes: (texts: readonly string[]): string => `Assumed: ${texts.join(' ')}`,
  age: (ms: number): string => `Looked ${common.ago(ms)}.`,
  tasksWait: (count: number): string => `${countTasks(count)} wait; this is about the first.`,
} as const;
