/**
 * Which start a launcher hangs at. It makes one after the other, and one whose working folder or program lies on a file system that does
 * not answer holds up all behind it, however often the launcher is replaced.
 */
import { attemptFolder } from './attempt-start.js';
import { readClaim } from './claim.js';
import type { LauncherSetup, StartItem } from './launcher-protocol.js';

export class HangingStarts {
  /** In their order; also those that nobody wants any more. */
  private readonly asked = new Map<string, StartItem>();
  private readonly suspects = new Set<string>();

  constructor(private readonly setup: LauncherSetup) {}

  /** Of a new launcher nothing was asked yet. */
  opened(): void {
    this.asked.clear();
  }

  sent(items: readonly StartItem[]): void {
    for (const item of items) this.asked.set(item.uid, item);
  }

  heard(uid: string): void {
    this.asked.delete(uid);
    this.suspects.delete(uid);
  }

  forget(uid: string): void {
    this.suspects.delete(uid);
  }

  /** Null: nobody knows. What was begun before it has a claim by now, although that it was may not have been said. */
  at(): StartItem | null {
    for (const item of this.asked.values()) if (!this.hasBegun(item)) return item;
    return null;
  }

  /** True for one at which a launcher has hung before. */
  again(uid: string): boolean {
    if (this.suspects.has(uid)) return true;
    this.suspects.add(uid);
    return false;
  }

  private hasBegun({ uid }: StartItem): boolean {
    try {
      const { kind } = readClaim(attemptFolder(this.setup, uid));
      return kind === 'claimed' || kind === 'unfilled';
    } catch {
      return true; // nothing is known of it
    }
  }
}
