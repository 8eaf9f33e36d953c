/** The sentences for structured reasons: a whole one for pages, a short one for lists. */
import type { NeedView, Offer, SharingView, Shortfall, WaitReason } from '../../contract/explanation.js';
import { stateClause } from '../../contract/state-words.js';
import { formatSize } from '../../formats/sizes.js';
import { timeText } from '../../formats/times.js';
import { formatCores, formatGpus } from '../feasible.js';

export const shortLength = 60;

export function sentenceOf(reason: WaitReason): string {
  switch (reason.kind) {
    case 'position': {
      const users = reason.users.map(({ user, tasks }) => `${tasks} of ${user}`).join(', ');
      return `${tasksText(reason.ahead)} ${reason.ahead === 1 ? 'is' : 'are'} ahead of it (${users}).`;
    }
    case 'demoted':
      return (
        `Demoted to ${reason.effective}, asked for ${reason.asked}, because ` +
        `${reason.user} has ${reason.spend} of ${reason.limit} in use.`
      );
    case 'capacity': {
      const { best, need } = reason;
      const parts = best.lacks.map((lack) => lackText(lack, need, noteOf(best)));
      return `Waits for ${parts.join(', ')}${reason.possible > 1 ? `, on ${best.workerId}` : ''}.`;
    }
    case 'turn':
      return reason.workerId === null
        ? 'Waits for its turn: others are placed first.'
        : `Waits for its turn: what is free on ${reason.workerId} is kept for others.`;
    case 'too-large':
      return tooLargeText(reason.need, reason.largest, reason.cards);
    case 'constraint':
      return constraintText(reason.constraints);
    case 'gang': {
      const asked = `${reason.size} tasks at once, each with ${needText(reason.need)}`;
      if (reason.groups === 0)
        return `Asked for a gang grouped by ${reason.groupBy}; no machine has that attribute.`;
      if (reason.largest < reason.size)
        return `Asked for ${asked}; the largest group of machines holds ${reason.largest}.`;
      return `Waits for room for ${asked}; ${groupText(reason.groupBy, reason.group)} has room for ${reason.fits}.`;
    }
    case 'build-slots':
      return (
        `Waits until ${reason.workerId} has started what it is starting: enough is free there` +
        `${reason.machines > 1 ? ` and on ${reason.machines - 1} more` : ''}.`
      );
    case 'hold':
      return 'Held: it starts after it is released.';
    case 'not-before':
      return `Starts no earlier than ${timeText(reason.atMs)}.`;
    case 'dependency': {
      const parts = reason.jobs.map(
        ({ jobId, on, state }) =>
          `${jobId} ${dependencyWords[on]}${state === null ? '' : ` (${stateClause[state]})`}`,
      );
      const more = parts.length > 2 ? ` and ${parts.length - 2} more` : '';
      return `Waits for ${parts.slice(0, 2).join(' and ')}${more}.`;
    }
    case 'quota': {
      const parts = reason.parts.map(
        ({ resource, used, asked, quota }) =>
          `${amountText(resource, used)} used and ${amountText(resource, asked)} asked for, of ${amountText(resource, quota)}`,
      );
      return `Waits: ${reason.user} has as much in use as the quota allows${parts.length === 0 ? '' : ` (${parts.join('; ')})`}.`;
    }
    case 'job-cap':
      return `Waits: ${reason.most} of its tasks may be active at the same time, and ${reason.active === 1 ? 'one is' : `${reason.active} are`}.`;
    case 'victim': {
      const [first, ...others] = [...new Set(reason.attempts.map(({ taskId }) => taskId))];
      const until = reason.untilMs === null ? '' : `, by ${timeText(reason.untilMs)} at the latest`;
      if (first === undefined) return `Starts on ${reason.workerId}; waits for room.`;
      const who = others.length === 0 ? `${first} has` : `${first} and ${others.length} more have`;
      return `Starts on ${reason.workerId}; waits until ${who} left${until}.`;
    }
    case 'reserved': {
      const when =
        reason.startMs === null
          ? 'what runs there has no time limit, so nobody knows until when'
          : `by known time limits it starts at ${timeText(reason.startMs)}`;
      return `${listText(reason.workerIds, 4)} kept for it; ${when}.`;
    }
    case 'no-machine':
      return reason.workerIds.length === 0
        ? 'No machine has reported yet.'
        : `No machine is ready: ${reason.workerIds.join(', ')} not healthy.`;
    case 'backend':
      return reason.message;
  }
}

/** At most 60 characters. */
export function shortOf(reason: WaitReason): string {
  return cut(shortText(reason));
}

function shortText(reason: WaitReason): string {
  switch (reason.kind) {
    case 'position':
      return `${tasksText(reason.ahead)} ahead of it`;
    case 'demoted':
      return `Over the limit: competes as ${reason.effective}`;
    case 'capacity': {
      const [lack, ...others] = reason.best.lacks;
      if (lack === undefined) return 'Waits for its turn';
      const what = neededText(lack, reason.need);
      const and =
        others.length === 0 ? '' : ` and ${others.map(({ resource }) => resourceWords[resource]).join(', ')}`;
      return `Needs ${what}${and}, best machine has ${freeText(lack)}`;
    }
    case 'turn':
      return reason.workerId === null ? 'Waits for its turn' : `Waits for its turn on ${reason.workerId}`;
    case 'too-large': {
      const { need, largest } = reason;
      if (need.gpuCount > largest.gpuCount)
        return `Needs ${gpusText(need)}, largest machine has ${largest.gpuCount}`;
      if (need.cpuMillicores > largest.cpuMillicores)
        return `Needs ${coresText(need.cpuMillicores)}, largest machine has ${largest.cpuMillicores / 1000}`;
      if (need.memoryBytes > largest.memoryBytes)
        return `Needs ${formatSize(need.memoryBytes)}, largest machine has ${formatSize(largest.memoryBytes)}`;
      return 'No machine has all of what it asks for';
    }
    case 'constraint': {
      const [first, ...others] = reason.constraints.toSorted((left, right) => left.allows - right.allows);
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      return `No machine with ${first?.text ?? 'what it asks for'}${more}`;
    }
    case 'gang':
      if (reason.groups === 0) return `No machine has the attribute ${reason.groupBy}`;
      return reason.largest < reason.size
        ? `Needs ${reason.size} at once, largest group holds ${reason.largest}`
        : `Needs room for ${reason.size} at once, best group has ${reason.fits}`;
    case 'build-slots':
      return `Waits for other starts on ${reason.workerId}`;
    case 'hold':
      return 'Held';
    case 'not-before':
      return `Starts no earlier than ${timeText(reason.atMs)}`;
    case 'dependency': {
      const [first, ...others] = reason.jobs;
      if (first === undefined) return 'Waits for another job';
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      return `Waits for ${first.jobId.split('/').at(-1) ?? first.jobId} ${dependencyWords[first.on]}${more}`;
    }
    case 'quota':
      return `Quota of ${reason.user} is used up`;
    case 'job-cap':
      return `${reason.active} of ${reason.most} tasks allowed at once are active`;
    case 'victim': {
      const tasks = new Set(reason.attempts.map(({ taskId }) => taskId)).size;
      return `Waits for ${tasksText(tasks)} to leave ${reason.workerId}`;
    }
    case 'reserved':
      return reason.startMs === null
        ? `${listText(reason.workerIds, 1)} kept for it`
        : `Kept for it from ${timeText(reason.startMs)}`;
    case 'no-machine':
      return 'No machine is ready';
    case 'backend':
      return reason.message.replace(/\.$/, '');
  }
}

const dependencyWords = { success: 'to succeed', end: 'to end', failure: 'to fail' } as const;
const resourceWords = { cpu: 'CPU', memory: 'memory', gpu: 'GPUs' } as const;

export function needText(need: NeedView): string {
  return [
    formatCores(need.cpuMillicores),
    formatSize(need.memoryBytes),
    ...(need.gpuCount > 0 ? [formatGpus(need.gpuCount, need.gpuVariant)] : []),
  ].join(', ');
}

function noteOf({ gpusUsedByOthers, gpuUsers = [], gpusNotAnswering, gpusKept, sharing }: Offer): string {
  const others =
    gpusUsedByOthers > 0
      ? `, ${gpusUsedByOthers} used by ${gpuUsers.length === 0 ? 'others' : gpuUsers.join(', ')}`
      : '';
  const silent = gpusNotAnswering > 0 ? `, ${gpusNotAnswering} not answering` : '';
  const kept = gpusKept > 0 ? `, ${gpusKept} kept from jobs` : '';
  return `${others}${silent}${kept}${sharing === undefined ? '' : sharingText(sharing)}`;
}

function sharingText({ alone, crowded, unreadable, full, mostFreeBytes }: SharingView): string {
  const parts = [
    ...(full > 0 ? [`at most ${formatSize(Math.max(0, mostFreeBytes))} left for one more`] : []),
    ...(alone > 0 ? [`${alone} in use by a task that does not share`] : []),
    ...(crowded > 0 ? [`${crowded} shared by as many tasks as may`] : []),
    ...(unreadable > 0 ? [`${unreadable} whose memory in use is not readable`] : []),
  ];
  return parts.map((part) => `, ${part}`).join('');
}

function lackText(
  { resource, needed, free, total, others }: Shortfall,
  need: NeedView,
  gpuNote: string,
): string {
  const shared = need.sharedGpuBytes;
  if (resource === 'gpu' && shared !== undefined)
    return `${formatSize(shared)} on ${needed === 1 ? '' : 'each of '}${formatGpus(needed, need.gpuVariant)} it shares (${free} of ${total} have room${gpuNote})`;
  const amount = (value: number) => (resource === 'cpu' ? String(value / 1000) : formatSize(value));
  const theirs = others === undefined ? '' : `, ${amount(others)} with jobs of other controllers`;
  if (resource === 'cpu') return `${formatCores(needed)} (${amount(free)} of ${amount(total)} free${theirs})`;
  if (resource === 'memory')
    return `${formatSize(needed)} of memory (${amount(free)} of ${amount(total)} free${theirs})`;
  return `${formatGpus(needed, need.gpuVariant)} (${free} of ${total} free${gpuNote})`;
}

function constraintText(constraints: Extract<WaitReason, { kind: 'constraint' }>['constraints']): string {
  const unmet = constraints.filter(({ allows }) => allows === 0);
  const shown = (unmet.length > 0 ? unmet : constraints).map(({ text }) => text).join(' and ');
  if (unmet.length > 0) {
    const there = unmet.map(({ key, values }) =>
      values.length === 0 ? `no machine says anything of ${key}` : `${key} is ${values.join(', ')}`,
    );
    return `Asked for ${shown}; ${there.join('; ')}.`;
  }
  const each = constraints.map(
    ({ text, allows }) => `${machinesText(allows)} ${allows === 1 ? 'has' : 'have'} ${text}`,
  );
  return `Asked for ${shown}; no one machine meets all of it (${each.join(', ')}).`;
}

function tooLargeText(need: NeedView, largest: NeedView, cards: string): string {
  const parts: (readonly [string, string])[] = [];
  if (need.cpuMillicores > largest.cpuMillicores)
    parts.push([formatCores(need.cpuMillicores), `the largest machine has ${largest.cpuMillicores / 1000}`]);
  if (need.memoryBytes > largest.memoryBytes)
    parts.push([
      `${formatSize(need.memoryBytes)} of memory`,
      `the largest machine has ${formatSize(largest.memoryBytes)}`,
    ]);
  if (need.gpuCount > largest.gpuCount)
    parts.push([formatGpus(need.gpuCount, need.gpuVariant), `what there is: ${cards}`]);
  const [only, second] = parts;
  if (only !== undefined && second === undefined) return `Asked for ${only[0]}; ${only[1]}.`;
  return parts.length === 0
    ? `Asked for ${needText(need)}; no machine has all of it: ${cards}.`
    : `Asked for ${parts.map(([asked, there]) => `${asked} (${there})`).join(' and ')}.`;
}

function neededText({ resource, needed }: Shortfall, need: NeedView): string {
  if (resource === 'cpu') return coresText(needed);
  return resource === 'memory' ? formatSize(needed) : gpusText(need);
}

function freeText({ resource, free }: Shortfall): string {
  if (resource === 'cpu') return String(free / 1000);
  return resource === 'memory' ? formatSize(free) : String(free);
}

function gpusText({ gpuCount, gpuVariant, sharedGpuBytes }: NeedView): string {
  if (sharedGpuBytes !== undefined)
    return `${formatSize(sharedGpuBytes)} on ${gpuCount} shared ${gpuVariant === null ? (gpuCount === 1 ? 'GPU' : 'GPUs') : gpuVariant}`;
  return gpuVariant === null ? `${gpuCount} ${gpuCount === 1 ? 'GPU' : 'GPUs'}` : `${gpuCount} ${gpuVariant}`;
}

function coresText(millicores: number): string {
  return `${millicores / 1000} ${millicores === 1000 ? 'core' : 'cores'}`;
}

function amountText(resource: 'tasks' | 'cpu' | 'memory' | 'gpu', amount: number): string {
  switch (resource) {
    case 'tasks':
      return tasksText(amount);
    case 'cpu':
      return coresText(amount);
    case 'memory':
      return formatSize(amount);
    case 'gpu':
      return formatGpus(amount, null);
  }
}

export function tasksText(count: number): string {
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
}

function machinesText(count: number): string {
  return `${count} ${count === 1 ? 'machine' : 'machines'}`;
}

function groupText(by: string, group: string | null): string {
  if (group === null) return 'no group';
  return by === 'worker' ? group : `${by} ${group}`;
}

function listText(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

function cut(text: string): string {
  return text.length <= shortLength ? text : `${text.slice(0, shortLength - 1)}…`;
}
