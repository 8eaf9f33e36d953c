/** What a machine reached by SSH has and how busy it is, from the words of its far hand. */
import { DiskMeter, type DiskRates } from '../../../../core/formats/disk-counts.js';
import type { GpuView } from '../../../../core/contract/gpus.js';
import { jobsDiskPurpose, type DiskView, type DockerState } from '../../../../core/contract/machines.js';
import { nothingClaimed, withClaims, type OthersClaims } from '../claims/machine-claims.js';
import type { GpuReading } from '../../../machine/gpus.js';
import { unclaimable } from './far-start.js';
import type { FarWord } from './far-words.js';
import { readGpus, type FarGpuProcess, type FarGpus } from './gpu-text.js';
import type { MachineFacts } from './machine-memory.js';

export interface FarHello {
  readonly facts: MachineFacts;
  readonly clockMs: number;
  readonly home: string;
  readonly searchPath: string | undefined;
  readonly unbuffered: boolean;
  readonly umask: number;
  readonly user: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] };
}

export function helloOf(word: FarWord): FarHello {
  const said = word.pairs();
  const text = (name: string) => said.get(name) ?? '';
  const kernel = text('system');
  const pretty = text('pretty');
  return {
    facts: {
      machineId: text('machineId'),
      bootId: text('bootId'),
      hostname: text('hostname'),
      platform:
        pretty === '' ? `${kernel} ${text('architecture')}` : `${pretty} (${kernel} ${text('architecture')})`,
      cpuModel: text('cpuModel').replaceAll(/\s+/g, ' ').trim() || 'unknown processor',
      cpuCount: Math.max(1, Number.parseInt(text('cpuCount'), 10) || 1),
      memoryBytes: Number(text('memoryBytes')) || 0,
    },
    clockMs: Number(text('clock')),
    home: text('home'),
    searchPath: said.get('path'),
    unbuffered: text('unbuffered') === '1',
    umask: Number.parseInt(text('umask'), 8) || 0o022,
    user: userOf(text('uid'), text('groups')),
  };
}

/** `groups`: the one that counts first, as Perl lists them. */
function userOf(uid: string, groups: string): FarHello['user'] {
  const [gid = 0, ...more] = groups.split(' ').map(Number);
  return { uid: Number(uid), gid, groups: [...new Set(more)] };
}

/** Lines of `df -Pk`; one entry a file system. */
export function disksOf(text: string, attemptsFolder: string, home: string): readonly DiskView[] {
  const purposes = [jobsDiskPurpose, 'home folder', 'system'];
  const asked = [attemptsFolder, home, '/'];
  const found = new Map<string, DiskView>();
  const lines = text.split('\n').filter((line) => /^\S.*\s\d+\s+\d+\s+-?\d+\s+\d+%\s+\//.test(line));
  for (const [index, line] of lines.entries()) {
    const match = /^(.+?)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+\d+%\s+(\/.*)$/.exec(line);
    if (match === null) continue;
    const [, device = '', total, , free, mountPoint = ''] = match;
    const key = `${device} ${mountPoint}`;
    if (found.has(key) || Number(total) === 0) continue;
    found.set(key, {
      mountPoint: lines.length === asked.length ? (asked[index] ?? mountPoint) : mountPoint,
      purpose: purposes[index] ?? 'system',
      totalBytes: Number(total) * 1024,
      freeBytes: Math.max(0, Number(free) * 1024),
    });
  }
  return [...found.values()];
}

/** The words of the hand's look at Docker: `absent`, `failed SOCKET WHY`, `ready SOCKET VERSION`. */
export function dockerOf(outcome: string, text: string): DockerState {
  const [state, socket = '', ...rest] = text.split(' ');
  const detail = rest.join(' ');
  const none = { version: null, gpus: false };
  if (outcome === 'late')
    return {
      ...none,
      state: 'FAILED',
      message: 'Docker there does not answer; see systemctl status docker.',
    };
  if (state === 'ready') return { state: 'READY', version: detail, gpus: false, message: null };
  if (state !== 'failed')
    return { ...none, state: 'ABSENT', message: 'There is no Docker there: install it to run containers.' };
  const denied = /denied/i.test(detail);
  const advice = denied
    ? 'add this user to its group there: sudo usermod -aG docker "$USER", then log in anew'
    : 'see systemctl status docker';
  return {
    ...none,
    state: 'FAILED',
    message: `Docker there cannot be used (${socket}: ${detail}); ${advice}.`,
  };
}

/** Keeps what was seen last. */
export class FarMachine {
  private ticks: { readonly busy: number; readonly all: number } | null = null;
  private meter = new DiskMeter();
  private reading: FarGpus = { gpus: [], note: 'not looked at yet' };
  private claimed: readonly GpuView[] = [];
  /** Why no card there can be claimed; null: they can. */
  private unclaimable: string | null = null;
  /** What other controllers' attempts there have. */
  others: OthersClaims = nothingClaimed;
  /** Whether errors of cards in the kernel's log there are seen. */
  errorLog: GpuReading['errorLog'];
  cpuBusyPercent: number | null = null;
  diskRates: DiskRates | null = null;
  memoryAvailableBytes = 0;
  disks: readonly DiskView[] = [];
  docker: DockerState = { state: 'UNKNOWN', version: null, gpus: false, message: null };
  /** The cards were looked at once: placement knows them. */
  complete = false;

  constructor(private readonly name: string) {}

  gpus(): readonly GpuView[] {
    return this.claimed;
  }

  /** As they are themselves, whoever claims them. */
  cards(): readonly GpuView[] {
    return this.reading.gpus;
  }

  gpuNote(): string | null {
    return this.reading.note;
  }

  /** A new connection: nothing of the one before is a rate any more. */
  connected(): void {
    this.ticks = null;
    this.meter = new DiskMeter();
    this.diskRates = null;
    this.complete = false;
  }

  /** sample BUSY ALL MEMORY AVAILABLE AT-MS READ WRITTEN */
  sample(word: FarWord): void {
    const [readBytes, writtenBytes] = [word.number(5), word.number(6)];
    const counts = readBytes === null || writtenBytes === null ? null : { readBytes, writtenBytes };
    this.diskRates = this.meter.rates(counts, word.number(4) ?? 0);
    const [busy, all] = [word.number(0), word.number(1)];
    this.memoryAvailableBytes = word.number(3) ?? this.memoryAvailableBytes;
    const before = this.ticks;
    this.ticks = busy === null || all === null ? null : { busy, all };
    if (busy === null || all === null || before === null || all <= before.all) return;
    const share = (busy - before.busy) / (all - before.all);
    this.cpuBusyPercent = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  }

  /** gpus OUTCOME TEXT, then of each process on a card its pid, its attempt (empty: none) and its user. */
  gpusSeen(word: FarWord, hostMemoryBytes: number): void {
    const processes = new Map<number, FarGpuProcess>();
    for (let index = 2; index + 2 < word.count; index += 3) {
      const [attemptUid, user] = [word.text(index + 1), word.text(index + 2)];
      processes.set(word.number(index) ?? 0, { attemptUid: attemptUid || null, user: user || null });
    }
    const [outcome, text] = [word.text(0), word.text(1)];
    this.reading = readGpus({ outcome, text, processes, hostMemoryBytes }, this.reading);
    this.claimed = this.withClaims();
    this.complete = true;
  }

  cardsSeen({ gpus, note, errorLog }: GpuReading): void {
    this.reading = { gpus, note };
    this.errorLog = errorLog;
    this.claimed = this.withClaims();
    this.complete = true;
  }

  /** claims WHY-NOT CPU MEMORY, then devices each with whose it is. True: the cards there cannot be claimed any more. */
  claimsSeen(word: FarWord): boolean {
    const devices = new Map<string, string[]>();
    for (let index = 3; index + 1 < word.count; index += 2) {
      const [device, owner] = [word.text(index), word.text(index + 1)];
      devices.set(device, [...(devices.get(device) ?? []), owner]);
    }
    this.others = { cpuMillicores: word.number(1) ?? 0, memoryBytes: word.number(2) ?? 0, devices };
    const before = this.unclaimable;
    this.unclaimable = word.text(0) === '' ? null : word.text(0);
    this.claimed = this.withClaims();
    return this.unclaimable !== null && this.unclaimable !== before;
  }

  /** One sentence; null: they can. */
  whyUnclaimable(): string | null {
    return this.unclaimable === null ? null : unclaimable(this.name, this.unclaimable);
  }

  /** A card that cannot be claimed is none to give out: who else would know? */
  private withClaims(): readonly GpuView[] {
    const gpus = withClaims(this.reading.gpus, this.others);
    const why = this.whyUnclaimable();
    if (why === null) return gpus;
    return gpus.map((gpu) => (gpu.state === 'SILENT' ? gpu : { ...gpu, state: 'SICK', stateReason: why }));
  }
}

const sampleLookedAtMs = 2000;
const dockerLookedAtMs = 10_000;
const idleMs = 60_000;
/** A timer that comes a moment early is no reason to wait for the next. */
const earlyMs = 500;

/** When what is to be asked: often while somebody looks. */
export class SampleTimes {
  private sampledMs = Number.NEGATIVE_INFINITY;
  private dockerMs = Number.NEGATIVE_INFINITY;

  /** Everything is due. */
  reset(): void {
    this.sampledMs = Number.NEGATIVE_INFINITY;
    this.dockerMs = Number.NEGATIVE_INFINITY;
  }

  /** What is due now counts as asked. */
  due(nowMs: number, looked: boolean): readonly string[] {
    const words: string[] = [];
    if (nowMs - this.sampledMs >= (looked ? sampleLookedAtMs : idleMs) - earlyMs) {
      this.sampledMs = nowMs;
      words.push('disks', 'sample');
    }
    if (nowMs - this.dockerMs >= (looked ? dockerLookedAtMs : idleMs) - earlyMs) {
      this.dockerMs = nowMs;
      words.push('docker');
    }
    return words;
  }
}
