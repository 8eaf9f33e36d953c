/**
 * Watches the cards that attempts hold: one that is lost ends its attempt, which then runs elsewhere; somebody else's process on one,
 * and one that is held and hardly used, are told to the attempt's owner. Nothing of others is ever touched.
 */
import { processName } from '../../machine/gpu-views.js';
import type { GpuProcessView, GpuView } from '../../../core/contract/gpus.js';
import type { Cause } from '../../../core/contract/views.js';
import { formatDuration } from '../../../core/formats/durations.js';
import type { AttemptEntry } from './process/attempt-entry.js';

export interface DeviceWatchOptions {
  readonly monotonicMs: () => number;
  readonly isAlive: (pid: number) => boolean;
  readonly warn: (entry: AttemptEntry, warning: Cause) => void;
  /** Its processes are to be ended: a card of it is gone. */
  readonly lose: (entry: AttemptEntry, reason: string) => void;
  /** A held card under 5 % for so long is idle; 20 minutes unless told. */
  readonly idleAfterMs?: number | undefined;
}

const defaultIdleAfterMs = 20 * 60_000;
const idleBelowPercent = 5;
const mostNamed = 3;

interface Holder {
  readonly entry: AttemptEntry;
  /** Processes that were on the cards before it. */
  readonly before: ReadonlySet<number>;
  /** Of others', those its owner was told of, by card: how much they use by now is no news. */
  readonly told: Set<string>;
  /** Since when each of its cards is idle. */
  readonly idleSinceMs: Map<string, number>;
}

export class DeviceWatch {
  private readonly holders = new Map<string, Holder>();

  constructor(private readonly options: DeviceWatchOptions) {}

  get count(): number {
    return this.holders.size;
  }

  /** `gpus` as they were read last. */
  add(entry: AttemptEntry, gpus: readonly GpuView[]): void {
    if ((entry.launch?.devices.length ?? 0) === 0 || this.holders.has(entry.uid)) return;
    const before = new Set(gpus.flatMap(({ processes }) => processes.map(({ pid }) => pid)));
    this.holders.set(entry.uid, { entry, before, told: new Set(), idleSinceMs: new Map() });
  }

  remove(uid: string): void {
    this.holders.delete(uid);
  }

  /** After each reading of the cards. `lost`: those that do not answer any more. */
  look(gpus: readonly GpuView[], lost: ReadonlySet<string>): void {
    for (const holder of [...this.holders.values()]) {
      // What an ended one left is told by itself.
      if (holder.entry.phase !== 'running') continue;
      const devices = holder.entry.launch?.devices ?? [];
      for (const gpu of gpus) {
        if (!devices.includes(gpu.uuid)) continue;
        if (lost.has(gpu.uuid)) {
          this.options.lose(holder.entry, lostMessage(gpu));
          continue;
        }
        this.lookForOthers(holder, gpu);
        this.lookForIdleness(holder, gpu);
      }
    }
  }

  private lookForOthers({ entry, before, told }: Holder, gpu: GpuView): void {
    const others = gpu.processes.filter(
      ({ computes, attemptUid, pid }) =>
        computes && attemptUid === null && !before.has(pid) && this.options.isAlive(pid),
    );
    const here = others.map(({ pid }) => `${pid} ${gpu.uuid}`);
    if (here.every((one) => told.has(one))) return;
    for (const one of here) told.add(one);
    const message = `Other processes compute on its GPU ${gpu.name} (${gpu.uuid}): ${namesOf(others)}. They carry no mark of the task and were left alone.`;
    this.options.warn(entry, { code: 'GPU_INTRUDER', message });
  }

  /** A card that does not tell how busy it is, is not called idle. */
  private lookForIdleness({ entry, idleSinceMs }: Holder, gpu: GpuView): void {
    const { monotonicMs, idleAfterMs = defaultIdleAfterMs } = this.options;
    if (gpu.utilizationPercent === null || gpu.utilizationPercent >= idleBelowPercent) {
      idleSinceMs.delete(gpu.uuid);
      return;
    }
    const since = idleSinceMs.get(gpu.uuid);
    if (since === undefined) idleSinceMs.set(gpu.uuid, monotonicMs());
    else if (monotonicMs() - since >= idleAfterMs && !entry.warnings.has('GPU_IDLE')) {
      const message = `Its GPU ${gpu.name} (${gpu.uuid}) has been used less than ${idleBelowPercent} % for ${formatDuration(idleAfterMs)}: others cannot have it while the task holds it.`;
      this.options.warn(entry, { code: 'GPU_IDLE', message });
    }
  }
}

export function lostMessage(gpu: Pick<GpuView, 'name' | 'uuid' | 'stateReason'>): string {
  return `Its GPU ${gpu.name} (${gpu.uuid}) failed: ${gpu.stateReason ?? 'it does not answer any more.'} No more tasks are given that GPU; this one can run on another.`;
}

function namesOf(processes: readonly GpuProcessView[]): string {
  const more = processes.length > mostNamed ? ` and ${processes.length - mostNamed} more` : '';
  return `${processes.slice(0, mostNamed).map(processName).join(', ')}${more}`;
}
