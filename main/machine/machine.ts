/** What this computer has and how busy it is. Whole on Linux; elsewhere what Node can tell. */
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import os from 'node:os';
import type { DiskView } from '../../core/contract/machines.js';
import { DiskMeter, readDiskCounts, type DiskRates } from '../../core/formats/disk-counts.js';

export interface MachineSample {
  readonly hostname: string;
  readonly platform: string;
  readonly cpuModel: string;
  readonly cpuCount: number;
  /** Since the sample before; null at first. */
  readonly cpuBusyPercent: number | null;
  readonly memoryTotalBytes: number;
  readonly memoryAvailableBytes: number;
  readonly disks: readonly DiskView[];
  /** Of all disks, since the sample before; null at first, and where the system does not count. */
  readonly diskRates: DiskRates | null;
}

export interface DiskOfInterest {
  readonly path: string;
  readonly purpose: string;
}

export class MachineSampler {
  private readonly fixed: Pick<MachineSample, 'hostname' | 'platform' | 'cpuModel' | 'cpuCount'>;
  private readonly meter = new DiskMeter();
  private previous: { readonly busy: number; readonly all: number } | null = null;

  constructor(private readonly disks: readonly DiskOfInterest[]) {
    const cpus = os.cpus();
    this.fixed = {
      hostname: os.hostname(),
      platform: platformName(),
      cpuModel: cpus[0]?.model.replaceAll(/\s+/g, ' ').trim() || 'unknown processor',
      cpuCount: Math.max(1, os.availableParallelism()),
    };
  }

  sample(): MachineSample {
    return {
      ...this.fixed,
      cpuBusyPercent: this.busyPercent(),
      memoryTotalBytes: os.totalmem(),
      memoryAvailableBytes: availableMemory(),
      disks: readDisks(this.disks),
      diskRates: this.meter.rates(
        readDiskCounts(readText('/proc/diskstats') ?? '', isDisk),
        performance.now(),
      ),
    };
  }

  private busyPercent(): number | null {
    const now = processorTicks();
    const before = this.previous;
    this.previous = now;
    // Counters of a virtual machine may stand still or go back.
    if (before === null || now === null || now.all <= before.all) return null;
    const share = (now.busy - before.busy) / (now.all - before.all);
    return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  }
}

/** What is made of others, or a part of one, has no device of its own. */
function isDisk(name: string): boolean {
  return existsSync(`/sys/block/${name.replaceAll('/', '!')}/device`);
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // not this system
  }
}

function processorTicks(): { busy: number; all: number } | null {
  const line = /^cpu +(.*)$/m.exec(readText('/proc/stat') ?? '')?.[1];
  if (line !== undefined) {
    // user nice system idle iowait irq softirq steal; guest time is in user already
    const ticks = line.split(/\s+/).slice(0, 8).map(Number);
    const all = ticks.reduce((sum, value) => sum + value, 0);
    return Number.isFinite(all) ? { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all } : null;
  }
  let busy = 0;
  let all = 0;
  for (const { times } of os.cpus()) {
    const sum = times.user + times.nice + times.sys + times.irq + times.idle;
    all += sum;
    busy += sum - times.idle;
  }
  return all > 0 ? { busy, all } : null;
}

/** What programs could get, caches counted as free; Node's own figure where the system gives no such one. */
function availableMemory(): number {
  const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1];
  return kilobytes === undefined ? os.freemem() : Number(kilobytes) * 1024;
}

/** One entry a file system: the first purpose named for it wins. */
function readDisks(wanted: readonly DiskOfInterest[]): readonly DiskView[] {
  const found: DiskView[] = [];
  const seen = new Set<string>();
  for (const { path, purpose } of wanted) {
    try {
      const { blocks, bfree, bavail, bsize, type } = statfsSync(path);
      const key = `${type} ${blocks} ${bsize} ${bfree}`;
      if (seen.has(key) || blocks === 0) continue;
      seen.add(key);
      found.push({ mountPoint: path, purpose, totalBytes: blocks * bsize, freeBytes: bavail * bsize });
    } catch {
      continue; // gone or not permitted: nothing can be said about it
    }
  }
  return found;
}

function platformName(): string {
  const pretty = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readText('/etc/os-release') ?? '')?.[1];
  const kernel = `${os.type()} ${os.release()}`;
  return pretty === undefined ? `${kernel} ${os.arch()}` : `${pretty} (${kernel} ${os.arch()})`;
}
