/** The state of a card as icon, word and colour, and who has it: the same wherever cards are shown. */
import type { GpuView } from '../../core/contract/gpus.js';
import type { LaneItem } from '../../core/contract/queue.js';
import { gpuStateHints, gpuStateWords, machines as words } from '../strings/machines.js';
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

/** Who uses a card, in words; empty when nobody does. */
export function gpuUser(gpu: GpuView, holders: Holders): string {
  if (gpu.heldBy !== null) {
    const item = holders.get(gpu.heldBy);
    return item === undefined ? words.heldByTask : `${item.user}: ${item.jobName}`;
  }
  if (gpu.claimedBy.length > 0) return words.claimed(gpu.claimedBy);
  const users = gpu.processes.flatMap((process) =>
    process.computes && process.user !== null ? [process.user] : [],
  );
  return [...new Set(users)].join(', ');
}
