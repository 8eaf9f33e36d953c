/**
 * What the controllers of all logins on this machine hold, each in files of its own in one folder that everybody may write to (sticky,
 * like /tmp). A card is claimed by creating its file, which only one can. Anything may lie in such a folder: what is no proper claim
 * of a file's own owner is passed over, and nothing of others is ever changed unless it is proved dead.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { loginOf } from '../../../machine/users.js';
import {
  attemptFileName,
  deviceFileName,
  generationOf,
  isClaimName,
  maxClaimBytes,
  nextGeneration,
  parseClaimFile,
  type Claim,
} from './claim-file.js';
import { isProvablyDead, type Surroundings } from './liveness.js';

/** A claim with the name it was found under. */
export interface FoundClaim {
  readonly name: string;
  readonly inode: number;
  /** Owner of the file: what the file says of itself is only believed of who has no name here. */
  readonly owner: string;
  readonly own: boolean;
  readonly dead: boolean;
  /** Its file may be removed by this login. */
  readonly removable: boolean;
  readonly claim: Claim;
}

/** Kept over a restart of the machine on every system, like what its claims are about. IRIS_DESKTOP_CLAIMS names another; `none`: none. */
export function defaultClaimsFolder(env: NodeJS.ProcessEnv): string | null {
  const named = env['IRIS_DESKTOP_CLAIMS'];
  if (named !== undefined && named !== '') return named === 'none' ? null : path.resolve(named);
  return process.platform === 'win32' ? null : '/var/tmp/iris-claims';
}

const mostEntries = 5000;
/** One for each time that somebody is first with the same number. */
const tries = 20;

export class ClaimsFolder {
  constructor(
    readonly folder: string,
    private readonly controller: string,
    private readonly here: Surroundings,
  ) {}

  /** Null, or one sentence why claims cannot be made here. */
  prepare(): string | null {
    try {
      mkdirSync(this.folder, { mode: 0o777 });
      // The mask took something from it.
      chmodSync(this.folder, 0o1777);
    } catch (error) {
      if (!isCode(error, 'EEXIST')) return `${this.folder} cannot be made: ${wordsOf(error)}`;
    }
    const found = lstatSync(this.folder);
    if (!found.isDirectory()) return `${this.folder} is no folder`;
    if ((found.mode & 0o1002) !== 0o1002)
      return `${this.folder} has mode ${(found.mode & 0o7777).toString(8)}; it has to be 1777`;
    return null;
  }

  /** All proper claims there are, those of the dead marked. `skip`: names that need not be looked into. */
  read(skip: (name: string) => boolean = () => false): readonly FoundClaim[] {
    return this.names().flatMap((name) => (skip(name) ? [] : (this.readOne(name) ?? [])));
  }

  /** Null: it is ours now. Otherwise who has it. `shares`: attempts of the same controller keep nobody from it. */
  takeDevice(device: string, claim: Claim, shares = false): FoundClaim | null {
    const text = JSON.stringify(claim);
    const bars = ({ dead, own, claim: of }: FoundClaim) =>
      !dead && of.attempt !== claim.attempt && !(own && shares);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const names = this.names();
      const there = this.holders(device, names);
      const holder = there.find(bars);
      if (holder !== undefined) return holder;
      // One of a controller before this one proves nothing any more: the next might take it over.
      const same = there.filter(({ own, dead, claim: of }) => own && !dead && of.attempt === claim.attempt);
      for (const { name } of same) this.replace(name, text);
      if (same.length > 0) return null;
      const name = deviceFileName(device, nextGeneration(names, device));
      if (!this.create(name, text)) continue;
      // Somebody may have begun at another number at the same moment: then neither has it.
      const other = this.holders(device, this.names()).find((found) => found.name !== name && bars(found));
      if (other !== undefined) {
        this.remove(name);
        return other;
      }
      for (const { dead, name: old, inode } of there) if (dead) this.removeSame(old, inode);
      return null;
    }
    throw new Error(`${this.folder}: ${device} could not be claimed, others were first each time`);
  }

  putAttempt(claim: Claim): void {
    this.replace(attemptFileName(claim.attempt), JSON.stringify(claim));
  }

  /** The same claim with more known of it, in place of what stands. */
  renew(claim: Claim): void {
    const text = JSON.stringify(claim);
    this.replace(attemptFileName(claim.attempt), text);
    for (const name of this.deviceNamesOf(claim)) this.replace(name, text);
  }

  release(claim: Claim): void {
    for (const name of this.deviceNamesOf(claim)) this.remove(name);
    this.remove(attemptFileName(claim.attempt));
  }

  /** Claims of this controller for attempts it does not run any more. */
  sweep(isKnown: (attempt: string) => boolean): void {
    for (const { own, name, claim } of this.read()) if (own && !isKnown(claim.attempt)) this.remove(name);
  }

  /**
   * What attempts of other controllers have left that nobody sweeps any more, their data folder thrown away: everybody here would read it
   * every few seconds for ever. Dead claims of cards are few, and go with the next that takes the card.
   */
  clear(found: readonly FoundClaim[]): void {
    for (const { name, inode, own, dead, removable, claim } of found)
      if (dead && removable && !own && name === attemptFileName(claim.attempt)) this.removeSame(name, inode);
  }

  private deviceNamesOf({ attempt, devices }: Claim): readonly string[] {
    if (devices.length === 0) return [];
    const names = this.names();
    return devices
      .flatMap((device) => this.holders(device, names))
      .filter(({ own, claim }) => own && claim.attempt === attempt)
      .map(({ name }) => name);
  }

  private holders(device: string, names: readonly string[]): readonly FoundClaim[] {
    return names
      .filter((name) => generationOf(name, device) !== null)
      .flatMap((name) => this.readOne(name) ?? [])
      .filter(({ claim }) => claim.devices.includes(device));
  }

  /** Bounded, whatever somebody has put there. */
  private names(): string[] {
    const found: string[] = [];
    const folder = opendirSync(this.folder);
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (isClaimName(entry.name)) found.push(entry.name);
        if (found.length >= mostEntries) break;
      }
    } finally {
      folder.closeSync();
    }
    return found;
  }

  private readOne(name: string): FoundClaim | null {
    let file: number;
    try {
      // Neither a link nor a pipe may lead or hold us anywhere.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      file = openSync(path.join(this.folder, name), flags);
    } catch {
      return null; // gone, a link, or not readable
    }
    try {
      const { ino, uid, size, mode } = fstatSync(file);
      if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > maxClaimBytes) return null;
      const buffer = Buffer.alloc(size);
      const claim = parseClaimFile(buffer.toString('utf8', 0, readSync(file, buffer, 0, size, 0)));
      if (claim === null) return null;
      return {
        name,
        inode: ino,
        owner: loginOf(uid) ?? (claim.owner.replaceAll(/[^\w.@-]/g, '') || `uid ${uid}`),
        own: uid === process.getuid?.() && claim.controller === this.controller,
        dead: isProvablyDead(claim, this.here),
        removable: process.getuid?.() === 0 || uid === process.getuid?.(),
        claim,
      };
    } finally {
      closeSync(file);
    }
  }

  /** False when it is there already. It appears with its whole content, never empty. */
  private create(name: string, text: string): boolean {
    const next = this.write(name, text);
    try {
      linkSync(next, path.join(this.folder, name));
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      unlinkSync(next);
    }
  }

  private replace(name: string, text: string): void {
    renameSync(this.write(name, text), path.join(this.folder, name));
  }

  private write(name: string, text: string): string {
    const next = path.join(this.folder, `.new-${process.pid}-${this.controller}-${name}`);
    try {
      unlinkSync(next);
    } catch {
      // There is none, as there should be.
    }
    const file = openSync(next, 'wx', 0o644);
    try {
      // The mask may have hidden it from others.
      fchmodSync(file, 0o644);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
    return next;
  }

  private removeSame(name: string, inode: number): void {
    try {
      if (lstatSync(path.join(this.folder, name)).ino === inode) this.remove(name);
    } catch {
      // Gone by itself.
    }
  }

  /** Of others' files only root and the folder's owner may; it is passed over as dead all the same. */
  private remove(name: string): void {
    try {
      unlinkSync(path.join(this.folder, name));
    } catch {
      // Gone, or not ours to remove.
    }
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
