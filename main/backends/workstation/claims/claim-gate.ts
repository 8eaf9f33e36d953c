/** Lets attempts through to their runtime that have what they were given for themselves; the others go back to the queue, free of charge. */
import type { AttemptObservation, DesiredAttempt } from '../../backend.js';
import { newEntry, observationOf, type AttemptEntry } from '../process/attempt-entry.js';
import { MachineClaims, type MachineClaimsOptions, type OthersClaims } from './machine-claims.js';

export interface ClaimGateOptions extends Omit<MachineClaimsOptions, 'folder'> {
  /** Null: nobody is told what is held here, and nobody asked. */
  readonly folder: string | null;
  readonly nowMs: () => number;
  /** A runtime has it already. */
  readonly isKnown: (uid: string) => boolean;
  readonly onLost: (batch: readonly AttemptObservation[]) => void;
}

export class ClaimGate {
  private readonly claims: MachineClaims | null;
  private swept = false;

  constructor(private readonly options: ClaimGateOptions) {
    const { folder } = options;
    this.claims = folder === null ? null : new MachineClaims({ ...options, folder });
  }

  others(): OthersClaims | null {
    return this.claims?.others() ?? null;
  }

  /** Without those that would start on a card which another controller on this machine was first to claim. */
  pass(desired: readonly DesiredAttempt[]): readonly DesiredAttempt[] {
    const { claims } = this;
    if (claims === null) return desired;
    if (!this.swept) {
      this.swept = true;
      const known = new Set(desired.map((item) => (item.kind === 'run' ? item.launch.uid : item.uid)));
      claims.sweep((uid) => known.has(uid));
    }
    const lost: AttemptObservation[] = [];
    const passed = desired.filter((item) => {
      if (item.kind === 'stop' || item.launch.devices.length === 0) return true;
      if (this.options.isKnown(item.launch.uid)) return true;
      const message = claims.take(item.launch);
      // What runs already goes on, whoever claims its card now.
      if (message === null || item.kind === 'keep') return true;
      lost.push({
        ...observationOf(newEntry(item.launch.uid, '', item.launch), 'WORKER_FAILED'),
        finishedAtMs: this.options.nowMs(),
        cause: { code: 'GPU_CLAIMED', message },
      });
      return false;
    });
    if (lost.length > 0) {
      setImmediate(() => {
        // First who has the card, so that it is not given out again at once.
        this.options.onChange();
        this.options.onLost(lost);
      });
    }
    return passed;
  }

  started({ uid, launch, supervisor }: AttemptEntry): void {
    if ((launch?.devices.length ?? 0) > 0) this.claims?.runsUnder(uid, supervisor?.pid ?? null);
  }

  /** One without cards has shown now that it lives long enough for others to know of it. */
  livesOn({ launch, supervisor, phase }: AttemptEntry): void {
    if (this.claims === null || launch === null || launch.devices.length > 0 || phase === 'ended') return;
    this.claims.take(launch, supervisor?.pid ?? null);
  }

  ended(uid: string): void {
    this.claims?.release(uid);
  }

  close(): void {
    this.claims?.close();
  }
}
