/** Where one cluster keeps its things on this machine. */
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RefusalError, refusal } from '../core/contract/errors.js';
import { ownHome } from './machine/users.js';
import { foreignSocketFolder } from './server/socket-folder.js';
import { sha256 } from './sha256.js';

/** Node cuts longer socket paths silently; the system's own limit is 108 (Linux) or 104 (macOS). */
const maxSocketPathBytes = 100;

export interface Home {
  /** What the user named, or the platform's default; may be shared by several machines. */
  readonly root: string;
  /** This machine's own folder inside it; holds the machine id in its name. */
  readonly folder: string;
  readonly database: string;
  readonly attempts: string;
  readonly logs: string;
  /** What is known of machines reached by SSH. */
  readonly machines: string;
  /** Unix socket path, or the name of a pipe on Windows. */
  readonly socket: string;
}

export interface HomeInput {
  /** `--home`; wins over the environment. */
  readonly flag?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  readonly homeFolder?: string;
  readonly machineId?: string;
}

/** Names the folders; creates nothing. */
export function resolveHome(input: HomeInput = {}): Home {
  const env = input.env ?? process.env;
  const platform = input.platform ?? process.platform;
  const chosen = input.flag ?? env['IRIS_DESKTOP_HOME'];
  const homeFolder = input.homeFolder ?? ownHome();
  const root = path.resolve(
    chosen !== undefined && chosen !== ''
      ? underHome(chosen, homeFolder)
      : defaultRoot(env, platform, homeFolder),
  );
  const machineId = (input.machineId ?? readMachineId()).slice(0, 12);
  const folder = path.join(root, `machine-${machineId}`);
  return {
    root,
    folder,
    database: path.join(folder, 'iris.db'),
    attempts: path.join(folder, 'attempts'),
    logs: path.join(folder, 'logs'),
    machines: path.join(folder, 'machines'),
    socket: socketPath(folder, platform),
  };
}

/** No shell puts the home folder into `--home=~/x` or a service's setting: taken as it is, each folder it is typed in would get a `~`. */
function underHome(named: string, homeFolder: string): string {
  return /^~([/\\]|$)/.test(named) ? path.join(homeFolder, named.slice(1)) : named;
}

function defaultRoot(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, homeFolder: string): string {
  if (platform === 'darwin') return path.join(homeFolder, 'Library', 'Application Support', 'Iris Desktop');
  if (platform === 'win32')
    return path.join(env['LOCALAPPDATA'] ?? path.join(homeFolder, 'AppData', 'Local'), 'Iris Desktop');
  // The XDG specification says that a relative path there is invalid and to be ignored.
  const data = env['XDG_DATA_HOME'];
  const base = data !== undefined && path.isAbsolute(data) ? data : path.join(homeFolder, '.local', 'share');
  return path.join(base, 'iris-desktop');
}

/**
 * Beside the database, else in a folder named by what it stands for alone: whoever has the data folder open by whatever way, from a
 * desktop, by cron, as a service or by a link, has to look in the same place. That is why it is not XDG_RUNTIME_DIR, which not all of
 * them have, and which goes with the last login while a host goes on.
 */
function socketPath(folder: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return `\\\\.\\pipe\\iris-desktop-${sha256(folder).slice(0, 16)}`;
  const real = realName(folder);
  // Which of the two it is, its real name decides: the same file has a long name and a short one where a link leads to it.
  const direct = path.join(real, 'iris.sock');
  const named = path.join(folder, 'iris.sock');
  if (fits(direct)) return fits(named) ? named : direct;
  return path.join(
    '/tmp',
    `iris-desktop-${process.getuid?.() ?? 0}-${sha256(real).slice(0, 16)}`,
    'iris.sock',
  );
}

const fits = (socket: string): boolean => Buffer.byteLength(socket) <= maxSocketPathBytes;

/** One name for a folder that has several by links; also for one that is still to be made. */
function realName(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    const parent = path.dirname(folder);
    return parent === folder ? folder : path.join(realName(parent), path.basename(folder));
  }
}

/** A stable name of this installation of the operating system; hashed, since the raw id is to be kept confidential (machine-id(5)). */
function readMachineId(): string {
  return digest(rawMachineId() ?? os.hostname());
}

/** As the system has it; to be stored where only the owner reads, and shown nowhere. */
export function rawMachineId(): string | null {
  for (const file of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const text = readFileSync(file, 'utf8').trim();
      if (/^[0-9a-f]{32}$/.test(text)) return text;
    } catch {
      continue; // absent on this system: the next source, then the host name
    }
  }
  return null;
}

function digest(text: string): string {
  return sha256(`iris-desktop ${text}`).slice(0, 32);
}

/** Makes the folders, readable by the owner only. Throws FOLDER_UNUSABLE with the path and what is wrong. */
export function prepareHome(home: Home): void {
  try {
    for (const folder of [home.folder, home.attempts, home.logs]) {
      makeFolder(folder);
      chmodSync(folder, 0o700);
    }
    if (process.platform !== 'win32') prepareSocketFolder(path.dirname(home.socket));
  } catch (error) {
    if (error instanceof RefusalError) throw error;
    throw new RefusalError(refusal('FOLDER_UNUSABLE', unusableMessage(home.folder, error)));
  }
}

/** What is wrong with a data folder, and what to do. */
export function unusableMessage(folder: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const advice =
    code === 'ENOSPC' || code === 'EDQUOT' ? 'The disk is full: free some space there, or name' : 'Name';
  return `The data folder ${folder} cannot be used: ${reason}. ${advice} another one with --home or IRIS_DESKTOP_HOME.`;
}

/**
 * With its parents, one after the other. Node's own way says ENOENT for whatever keeps it from making one, and never ends where the system
 * says that of a folder whose parent is there, as for a name that a map of automatic mounts does not have.
 */
export function makeFolder(folder: string): void {
  const missing = [folder];
  for (let parent = path.dirname(folder); !existsSync(parent); parent = path.dirname(parent)) {
    if (parent === missing[0]) break;
    missing.unshift(parent);
  }
  for (const one of missing) {
    try {
      mkdirSync(one, { mode: 0o700 });
    } catch (error) {
      // Of one that is there not every system says EEXIST: EISDIR, or that nothing can be written where it lies.
      const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
      const there = exists ? statSync(one) : statSync(one, { throwIfNoEntry: false });
      if (there?.isDirectory() !== true) throw error;
    }
  }
}

/** In a shared place such as /tmp somebody else may have made the folder first: it must be ours alone. */
function prepareSocketFolder(folder: string): void {
  makeFolder(folder);
  const foreign = foreignSocketFolder(folder, 'listens');
  if (foreign !== null) throw new RefusalError(foreign);
  chmodSync(folder, 0o700);
}
