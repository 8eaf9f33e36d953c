/**
 * How the system's own OpenSSH client is called: aliases, jump hosts, agents, known hosts and rules of the site are the user's own.
 * What would let a configuration surprise a program (forwarding, commands of its own, a terminal) is switched off.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ownHome } from '../../../machine/users.js';
import type { SshAddress } from './address.js';

/** A socket's path is cut silently above about 104 bytes, and ssh adds 17 of its own while it makes one. */
const mostSocketBytes = 80;

export interface SshClient {
  /** The ssh to run; found by PATH unless told. */
  readonly program?: string | undefined;
  /** The user's configuration; ~/.ssh/config unless told. */
  readonly configFile?: string | undefined;
}

export interface SshCommandOptions {
  readonly client: SshClient;
  readonly address: SshAddress;
  /** The user's files, then our own. */
  readonly knownHosts: readonly string[];
  readonly connectTimeoutMs: number;
  readonly aliveEveryMs: number;
  /** What it asks through; without it nothing is ever asked. */
  readonly asking?: { readonly program: string } | null | undefined;
}

/** A folder of 0700 for control sockets, short enough. */
export function socketFolder(home: string): string {
  const wanted = path.join(home, 'ssh');
  const short = Buffer.byteLength(wanted) + 14 <= mostSocketBytes;
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const folder = short ? wanted : path.join(os.tmpdir(), `iris-${process.getuid?.() ?? 0}-${hash}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Fails where it is somebody else's.
  chmodSync(folder, 0o700);
  return folder;
}

/** None where it is somebody else's: then nothing of ours is in it. */
export function madeSocketFolder(home: string): readonly string[] {
  try {
    return [socketFolder(home)];
  } catch {
    return [];
  }
}

/** A new name each time: a socket that a killed client left behind is in nobody's way. */
export function newSocket(folder: string): string {
  return path.join(folder, randomBytes(5).toString('hex'));
}

export function sshProgram(client: SshClient): string {
  return client.program ?? 'ssh';
}

/** Options that hold for every call. */
function baseArgs({ client, address }: Pick<SshCommandOptions, 'client' | 'address'>): string[] {
  return [
    ...(client.configFile === undefined ? [] : ['-F', client.configFile]),
    ...(address.user === null ? [] : ['-l', address.user]),
    ...(address.port === null ? [] : ['-p', String(address.port)]),
  ];
}

function options(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

export function sshArgs(
  { client, address, knownHosts, connectTimeoutMs, aliveEveryMs, asking = null }: SshCommandOptions,
  control: { readonly socket: string; readonly master: boolean } | null,
  remote: string,
  more: Readonly<Record<string, string>> = {},
): string[] {
  const seconds = (ms: number) => String(Math.max(1, Math.ceil(ms / 1000)));
  return [
    ...baseArgs({ client, address }),
    '-T',
    '-x',
    '-a',
    ...options({
      // Older clients do not know the next three.
      IgnoreUnknown: 'SessionType,StdinNull,ForkAfterAuthentication,UpdateHostKeys',
      ...more,
      BatchMode: asking === null ? 'yes' : 'no',
      NumberOfPasswordPrompts: asking === null ? '1' : '3',
      StrictHostKeyChecking: more['StrictHostKeyChecking'] ?? 'yes',
      UserKnownHostsFile: knownHosts.map(quoted).join(' '),
      UpdateHostKeys: 'no',
      ConnectTimeout: seconds(connectTimeoutMs),
      ConnectionAttempts: '1',
      ServerAliveInterval: seconds(aliveEveryMs),
      ServerAliveCountMax: '3',
      ClearAllForwardings: 'yes',
      PermitLocalCommand: 'no',
      RemoteCommand: 'none',
      SessionType: 'default',
      StdinNull: 'no',
      ForkAfterAuthentication: 'no',
      EscapeChar: 'none',
      ControlMaster: control?.master === true ? 'yes' : 'no',
      ControlPath: control === null ? 'none' : quoted(control.socket),
      ControlPersist: 'no',
    }),
    '--',
    address.host,
    remote,
  ];
}

/** As a word of a configuration: a data folder may have blanks in its name. */
function quoted(file: string): string {
  const escaped = file.replaceAll('%', '%%');
  return /\s/.test(escaped) ? `"${escaped}"` : escaped;
}

export function sshEnvironment({ asking = null }: Pick<SshCommandOptions, 'asking'>): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  // A locale of ours would be that of every task there: the configuration of most systems sends it along, and that of their servers takes
  // it. The client's own words are the same in any.
  for (const [name, value] of Object.entries(process.env))
    if (!/^(LANG|LANGUAGE|LC_\w+|SSH_ASKPASS|SSH_ASKPASS_REQUIRE)$/.test(name)) env[name] = value;
  if (asking !== null) {
    env['SSH_ASKPASS'] = asking.program;
    env['SSH_ASKPASS_REQUIRE'] = 'force';
    // Clients before 8.4 ask by a program only where they see a display.
    env['DISPLAY'] ??= ':0';
  }
  return env;
}

/**
 * By force, with all that it has started: what a configuration has it run on the way (a jump host, a test of the network) would hang on
 * alone. It leads a session of its own.
 */
export function endWhole(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // no such group: not this system, or over
  }
}

export interface ProgramEnd {
  readonly code: number | null;
  /** It was ended because it took too long: what it did not say by then means nothing. */
  readonly late: boolean;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end, at most so long. Rejects when it is not there. */
export function runProgram(
  program: string,
  args: readonly string[],
  more: {
    readonly timeoutMs: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly input?: string;
    /** Given what ends it at once. */
    readonly onStart?: (kill: () => void) => void;
  },
): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    // A session of its own: without a terminal nothing can ask there.
    const child = spawn(program, args, {
      stdio: 'pipe',
      detached: true,
      env: more.env ?? { ...process.env, LC_ALL: 'C' },
    });
    let [out, err] = ['', ''];
    let [over, late] = [false, false];
    const end = (): void => {
      // Its number may be another's by now.
      if (over) return;
      endWhole(child);
      // Whoever left its session and still has these keeps nobody waiting.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    more.onStart?.(end);
    const timer = setTimeout(() => {
      late = true;
      end();
    }, more.timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(more.input ?? '');
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      over = true;
      clearTimeout(timer);
      resolve({ code, late, out, err });
    });
  });
}

/** For what the client does here alone. Its configuration may run a program (`Match exec`), and the first run of any reads a cold disk. */
export const askClientMs = 30_000;

/**
 * The files of known hosts the user's configuration names for this address. Rejects when the client does not say: without them the key of
 * a known machine would pass for an unknown one.
 */
export async function userKnownHosts(client: SshClient, address: SshAddress): Promise<readonly string[]> {
  const usual = ['known_hosts', 'known_hosts2'].map((name) => path.join(ownHome(), '.ssh', name));
  const args = ['-G', ...baseArgs({ client, address }), '--', address.host];
  // One that cannot be run is told of when the connection itself is tried.
  const end = await runProgram(sshProgram(client), args, { timeoutMs: askClientMs }).catch(() => null);
  if (end?.late === true)
    throw new Error(
      `${sshProgram(client)} -G ${address.host} has not told within ${askClientMs / 1000} s what its configuration has for it`,
    );
  const line = /^userknownhostsfile (.+)$/m.exec(end?.out ?? '')?.[1];
  if (end?.code !== 0 || line === undefined) return usual;
  return line.split(' ').map((file) => file.replace(/^~(?=\/)/, ownHome()));
}
