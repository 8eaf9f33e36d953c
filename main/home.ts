/** Where one cluster keeps its things on this machine. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RefusalError, refusal } from '../core/contract/errors.js';
import { ownHome } from './machine/users.js';
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
  const root = path.resolve(
    chosen !== undefined && chosen !== ''
      ? chosen
      : defaultRoot(env, platform, input.homeFolder ?? ownHome()),
  );
  const machineId = (input.machineId ?? readMachineId()).slice(0, 12);
  const folder = path.join(root, `machine-${machineId}`);
  return {
    root,
    folder,
    database: path.join(folder, 'iris.db'),
    attempts: path.join(folder, 'attempts'),
    logs: path.join(folder, 'logs'),
    socket: socketPath(folder, env, platform),
  };
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

function socketPath(folder: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const hash = sha256(folder).slice(0, 16);
  if (platform === 'win32') return `\\\\.\\pipe\\iris-desktop-${hash}`;
  const direct = path.join(folder, 'iris.sock');
  if (Buffer.byteLength(direct) <= maxSocketPathBytes) return direct;
  const runtime = env['XDG_RUNTIME_DIR'];
  const base =
    runtime !== undefined && path.isAbsolute(runtime) && Buffer.byteLength(runtime) < 60 ? runtime : '/tmp';
  return path.join(base, `iris-desktop-${process.getuid?.() ?? 0}-${hash}`, 'iris.sock');
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

/** With its parents. Node says ENOENT for whatever keeps it from making a parent; here the true reason is thrown. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      let missing = folder;
      while (!existsSync(path.dirname(missing))) missing = path.dirname(missing);
      mkdirSync(missing, { mode: 0o700 });
    }
    throw error;
  }
}

/** In a shared place such as /tmp somebody else may have made the folder first: it must be ours alone. */
function prepareSocketFolder(folder: string): void {
  makeFolder(folder);
  const stat = lstatSync(folder);
  const uid = process.getuid?.();
  if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid)) {
    throw new RefusalError(
      refusal(
        'FOLDER_UNUSABLE',
        `The socket folder ${folder} belongs to somebody else; remove it or name another data folder with --home.`,
      ),
    );
  }
  chmodSync(folder, 0o700);
}
