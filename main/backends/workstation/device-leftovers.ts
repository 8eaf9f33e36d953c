/**
 * What still computes on an attempt's cards after its end. Whatever carries a mark of the attempt (session, environment, control group)
 * was ended with it; a process that shook off all of them may be anybody's, so it is named and left alone.
 */
import { formatSize } from '../../../core/formats/sizes.js';
import type { Cause } from '../../../core/contract/views.js';
import type { GpuProcess } from '../../machine/gpus.js';
import type { AttemptEntry } from './process/attempt-entry.js';

export interface DeviceLeftoversOptions {
  /** As seen last, without asking the tool. */
  readonly seen: () => readonly GpuProcess[];
  readonly look: () => Promise<readonly GpuProcess[]>;
  /** Belongs to an attempt that lives. */
  readonly isOwn: (pid: number) => boolean;
  readonly isAlive: (pid: number) => boolean;
}

const mostNamed = 5;

export class DeviceLeftovers {
  /** Pids that were on the cards when the attempt began: by attempt. */
  private readonly before = new Map<string, ReadonlySet<number>>();

  constructor(private readonly options: DeviceLeftoversOptions) {}

  begins({ uid, launch }: AttemptEntry): void {
    if (launch === null || launch.devices.length === 0 || this.before.has(uid)) return;
    this.before.set(uid, this.seenPids());
  }

  private seenPids(): ReadonlySet<number> {
    return new Set(this.options.seen().map(({ pid }) => pid));
  }

  forget(uid: string): void {
    this.before.delete(uid);
  }

  /** Null: nothing, or nothing that the tool tells of. */
  async left({ uid, launch }: AttemptEntry): Promise<Cause | null> {
    const devices = new Set(launch?.devices);
    if (devices.size === 0) return null;
    // A short one may never have been told as running: what was seen last was there before it, as far as can be known.
    const before = this.before.get(uid) ?? this.seenPids();
    const { isOwn, isAlive } = this.options;
    const left = (await this.options.look()).filter(
      // The answer may be a moment older than the attempt's end.
      ({ uuid, pid }) => devices.has(uuid) && !before.has(pid) && !isOwn(pid) && isAlive(pid),
    );
    if (left.length === 0) return null;
    const names = left.slice(0, mostNamed).map(nameOf).join(', ');
    const more = left.length > mostNamed ? ` and ${left.length - mostNamed} more` : '';
    return {
      code: 'GPU_STILL_USED',
      message: `After its end these processes still compute on its GPUs: ${names}${more}. They carry no mark of the task, so they were left alone.`,
    };
  }
}

function nameOf({ pid, name, uuid, usedBytes }: GpuProcess): string {
  const memory = usedBytes === null ? '' : `, ${formatSize(usedBytes)}`;
  return `${pid} (${name}, on ${uuid}${memory})`;
}
