/** The state of a card as icon, word and colour, and who has it: the same wherever cards are shown. */
import type { GpuView } from '../../core/contract/gpus.js';
import type { LaneItem } from '../../core/contract/queue.js';
import { gpuStateHints, gpuStateWords, machines as words } from '../strings/machines.js';
import { Fragment } from 'react';
import { jobRoute, routeHash } from '../app/router.js';
import { Icon, type IconName } from './icon.js';
import styles from './state-badge.module.css';

interface GpuLook {
  readonly icon: IconName;
  readonly color: string;
  readonly outlined: boolean;
}

export const gpuLooks: Readonly<Record<GpuView['state'], GpuLook>> = {
  FREE: { icon: 'check', color: 'var(--iris-succeeded)', outlined: false },
  HELD: { icon: 'dot', color: 'var(--iris-running)', outlined: false },
  BUSY: { icon: 'person', color: 'var(--iris-waiting)', outlined: false },
  SICK: { icon: 'cross', color: 'var(--iris-failed)', outlined: false },
  SILENT: { icon: 'broken-link', color: 'var(--iris-failed)', outlined: true },
};

export function GpuStateBadge({ state }: { readonly state: GpuView['state'] }) {
  const look = gpuLooks[state];
  return (
    <span
      className={styles['badge']}
      data-outlined={look.outlined || undefined}
      style={{ color: look.color }}
      title={gpuStateHints[state]}
    >
      <Icon name={look.icon} size={14} />
      {gpuStateWords[state]}
    </span>
  );
}

/** Attempts by uid, from what the queue says runs where. */
export type Holders = ReadonlyMap<string, LaneItem>;

export interface GpuHolder {
  readonly uid: string;
  readonly text: string;
  /** Null: nobody told yet what it is. */
  readonly jobId: string | null;
}

/** The attempts of ours that have a card: several where they share it. */
export function gpuHolders(gpu: GpuView, holders: Holders): readonly GpuHolder[] {
  const uids = gpu.heldBy === null ? [] : [gpu.heldBy, ...(gpu.sharedWith ?? [])];
  return uids.map((uid) => {
    const item = holders.get(uid);
    return item === undefined
      ? { uid, text: words.heldByTask, jobId: null }
      : { uid, text: `${item.user}: ${item.jobName}`, jobId: item.jobId };
  });
}

/** One of them as a link to its job, or what is said in its place. */
export function GpuHolderLink({ holder: { text, jobId } }: { readonly holder: GpuHolder }) {
  return jobId === null ? text : <a href={routeHash(jobRoute(jobId))}>{text}</a>;
}

/** All of them in one line. */
export function GpuHolderLinks({ gpu, holders }: { readonly gpu: GpuView; readonly holders: Holders }) {
  return gpuHolders(gpu, holders).map((holder, at) => (
    <Fragment key={holder.uid}>
      {at === 0 ? null : ', '}
      <GpuHolderLink holder={holder} />
    </Fragment>
  ));
}

/** Who uses a card, in words; empty when nobody does. */
export function gpuUser(gpu: GpuView, holders: Holders): string {
  if (gpu.heldBy !== null)
    return gpuHolders(gpu, holders)
      .map(({ text }) => text)
      .join(', ');
  if (gpu.claimedBy.length > 0) return words.claimed(gpu.claimedBy);
  const users = gpu.processes.flatMap((process) =>
    process.computes && process.user !== null ? [process.user] : [],
  );
  return [...new Set(users)].join(', ');
}
