/** What attempts on another machine use and what happens on the cards they hold, by the words of its hand and what is read of the cards. */
import type { GpuView } from '../../../../core/contract/gpus.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { GpuReading } from '../../../machine/gpus.js';
import { DeviceWatch } from '../device-watch.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import { UsageWatch } from '../usage-watch.js';
import type { FarWord } from './far-words.js';

export interface FarUsageOptions {
  readonly monotonicMs: () => number;
  /** A minute has passed. */
  readonly tell: (entry: AttemptEntry) => void;
  readonly warn: (entry: AttemptEntry, warning: Cause) => void;
  /** A card of it is gone. */
  readonly lose: (entry: AttemptEntry, reason: string) => void;
  readonly idleAfterMs?: number | undefined;
}

export class FarUsage {
  private readonly usage: UsageWatch;
  private readonly devices: DeviceWatch;

  constructor({ monotonicMs, tell, warn, lose, idleAfterMs }: FarUsageOptions) {
    // Its processes are not among those of this machine.
    this.usage = new UsageWatch({ monotonicMs, tell, usageOf: () => new Map() });
    this.devices = new DeviceWatch({ monotonicMs, warn, lose, isAlive: () => true, idleAfterMs });
  }

  /** Attempts that hold cards. */
  get holders(): number {
    return this.devices.count;
  }

  begins(entry: AttemptEntry, gpus: readonly GpuView[]): void {
    if ((entry.launch?.devices.length ?? 0) === 0) return;
    this.devices.add(entry, gpus);
    this.usage.add(entry);
  }

  /** usage UID CPU-SECONDS MEMORY READ WRITTEN */
  take(entry: AttemptEntry, word: FarWord): void {
    const [cpuSeconds, memoryBytes] = [word.number(1), word.number(2)];
    if (cpuSeconds === null || memoryBytes === null) return;
    const [readBytes, writtenBytes] = [word.number(3), word.number(4)];
    this.usage.take(entry, { cpuSeconds, memoryBytes, readBytes, writtenBytes });
    // Where there is a limit it is measured better.
    if (entry.launch?.spec.memoryIsLimit !== true)
      entry.peakMemoryBytes = Math.max(entry.peakMemoryBytes ?? 0, memoryBytes);
  }

  look({ gpus, lost }: GpuReading): void {
    this.devices.look(gpus, lost ?? new Set());
    this.usage.look(gpus);
  }

  /** What is known goes with its last observation. */
  conclude(entry: AttemptEntry): void {
    this.usage.conclude(entry);
    this.usage.remove(entry.uid);
    this.devices.remove(entry.uid);
  }

  close(): void {
    this.usage.close();
  }
}
