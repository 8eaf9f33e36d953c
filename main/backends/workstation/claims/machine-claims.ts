/** The claims of this controller's attempts, and what those of others leave of the machine. */
import { watch, type FSWatcher } from 'node:fs';
import type { GpuView } from '../../../../core/contract/gpus.js';
import { ownName } from '../../../machine/users.js';
import type { AttemptLaunch } from '../../backend.js';
import { sha256 } from '../../../sha256.js';
import { isErrorCode } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';
import { attemptFileName, type Claim } from './claim-file.js';
import { ClaimsFolder, type FoundClaim } from './claims-folder.js';
import { identityOf, surroundingsHere } from './liveness.js';

export interface MachineClaimsOptions {
  readonly folder: string;
  /** Names the controller. */
  readonly attemptsFolder: string;
  readonly log: LinkLog;
  /** Others claimed or released something. */
  readonly onChange: () => void;
}

/** What others' attempts on this machine have. */
export interface OthersClaims {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  /** Owners by device. */
  readonly devices: ReadonlyMap<string, readonly string[]>;
}

export const nothingClaimed: OthersClaims = { cpuMillicores: 0, memoryBytes: 0, devices: new Map() };
const settleMs = 100;

export class MachineClaims {
  private readonly folder: ClaimsFolder;
  private readonly own = new Map<string, Claim>();
  private readonly here = surroundingsHere();
  readonly controller: string;
  private usable: boolean;
  private watcher: FSWatcher | null = null;
  private settling: NodeJS.Timeout | null = null;
  private seen = '';

  constructor(private readonly options: MachineClaimsOptions) {
    this.controller = sha256(options.attemptsFolder).slice(0, 16);
    this.folder = new ClaimsFolder(options.folder, this.controller, this.here);
    const problem = this.attempt(() => this.folder.prepare(), 'cannot be used');
    this.usable = problem === null;
    if (typeof problem === 'string')
      options.log.warn(`Other logins' use of this machine is not seen: ${problem}.`);
    if (this.usable) this.follow();
  }

  /** Null: all its devices are its own now. Otherwise one sentence that says who has one. `pid`: the process it runs under already. */
  take(launch: AttemptLaunch, pid: number | null = null): string | null {
    if (!this.usable || this.own.has(launch.uid)) return null;
    const claim = this.claimOf(launch, pid);
    const holder = this.attempt(() => {
      for (const device of launch.devices) {
        const other = this.folder.takeDevice(device, claim, launch.spec.sharedGpuBytes !== null);
        if (other === null) continue;
        this.folder.release(claim);
        return `${device} is claimed by ${whose(other)} on this machine.`;
      }
      this.folder.putAttempt(claim);
      return null;
    }, 'could not be written to');
    if (typeof holder === 'string') return holder;
    // A folder that cannot be written to keeps nobody from working; what got there before it failed goes at the attempt's end.
    this.own.set(launch.uid, claim);
    return null;
  }

  /** It runs under that process, whatever becomes of this one. */
  runsUnder(uid: string, pid: number | null): void {
    const claim = this.own.get(uid);
    if (claim === undefined || pid === null || claim.supervisor?.pid === pid) return;
    const renewed = { ...claim, supervisor: identityOf(pid) };
    this.own.set(uid, renewed);
    this.attempt(() => this.folder.renew(renewed), 'could not be written to');
  }

  release(uid: string): void {
    const claim = this.own.get(uid);
    if (claim === undefined) return;
    this.own.delete(uid);
    this.attempt(() => this.folder.release(claim), 'could not be written to');
  }

  /** What a controller before this one left for attempts that are over. */
  sweep(isKnown: (uid: string) => boolean): void {
    if (this.usable) this.attempt(() => this.folder.sweep(isKnown), 'could not be cleaned');
  }

  others(): OthersClaims {
    if (!this.usable) return nothingClaimed;
    // What is known to be ours need not be read: there may be a thousand of it.
    const ours = new Set([...this.own.keys()].map(attemptFileName));
    const found = this.attempt(() => this.folder.read((name) => ours.has(name)), 'could not be read') ?? [];
    this.folder.clear(found);
    const devices = new Map<string, string[]>();
    const attempts = new Map<string, Claim>();
    for (const each of found) {
      if (each.dead || each.own) continue;
      attempts.set(`${each.owner} ${each.claim.attempt}`, each.claim);
      for (const device of each.claim.devices) {
        const owners = devices.get(device) ?? [];
        if (!owners.includes(each.owner)) owners.push(each.owner);
        devices.set(device, owners);
      }
    }
    const sum = (of: (claim: Claim) => number) =>
      [...attempts.values()].reduce((all, claim) => all + of(claim), 0);
    const others = {
      cpuMillicores: sum((claim) => claim.cpuMillicores),
      memoryBytes: sum((claim) => claim.memoryBytes),
      devices,
    };
    this.seen = textOf(others);
    return others;
  }

  close(): void {
    this.usable = false;
    this.watcher?.close();
    if (this.settling !== null) clearTimeout(this.settling);
  }

  private claimOf(launch: AttemptLaunch, pid: number | null): Claim {
    return {
      version: 1,
      owner: ownName().slice(0, 256),
      controller: this.controller,
      attempt: launch.uid,
      devices: [...launch.devices],
      cpuMillicores: launch.spec.cpuMillicores,
      memoryBytes: launch.spec.memoryBytes,
      bootId: this.here.bootId,
      pidNamespace: this.here.pidNamespace,
      host: identityOf(process.pid),
      supervisor: pid === null ? null : identityOf(pid),
      container: launch.spec.image !== null,
    };
  }

  private follow(): void {
    try {
      this.watcher = watch(this.options.folder, { persistent: false }, () => {
        this.settling ??= setTimeout(() => {
          this.settling = null;
          const before = this.seen;
          if (this.usable && textOf(this.others()) !== before) this.options.onChange();
        }, settleMs).unref();
      });
      this.watcher.on('error', () => this.watcher?.close());
    } catch (error) {
      this.options.log.warn('Changes of claims are seen late', { error: String(error) });
    }
  }

  /** All that is held, where nobody else was first meanwhile. */
  private restore(): void {
    for (const claim of this.own.values()) {
      for (const device of claim.devices) this.folder.takeDevice(device, claim, true);
      this.folder.putAttempt(claim);
    }
  }

  /** Undefined when it failed, which is said. A folder that was cleaned away meanwhile is made again. */
  private attempt<T>(work: () => T, what: string): T | undefined {
    try {
      try {
        return work();
      } catch (error) {
        if (!isErrorCode(error, 'ENOENT') || this.folder.prepare() !== null) throw error;
        this.watcher?.close();
        this.follow();
        this.restore();
        return work();
      }
    } catch (error) {
      this.options.log.warn(`The folder of claims ${this.options.folder} ${what}`, { error: String(error) });
      return undefined;
    }
  }
}

function whose({ owner, claim }: FoundClaim): string {
  return `${owner} for the attempt ${claim.attempt}`;
}

function textOf({ cpuMillicores, memoryBytes, devices }: OthersClaims): string {
  return JSON.stringify([cpuMillicores, memoryBytes, [...devices].sort()]);
}

/** The cards with who claims each. */
export function withClaims(gpus: readonly GpuView[], others: OthersClaims): readonly GpuView[] {
  if (others.devices.size === 0) return gpus;
  return gpus.map((gpu) => {
    const owners = others.devices.get(gpu.uuid);
    if (owners === undefined) return gpu;
    const claimed = { ...gpu, claimedBy: [...owners].sort() };
    if (gpu.state !== 'FREE' && gpu.state !== 'BUSY') return claimed;
    return { ...claimed, state: 'BUSY', stateReason: `Claimed by ${claimed.claimedBy.join(', ')}.` };
  });
}
