/** Host keys: what a machine shows, and what was accepted of it by hand. Those accepted here lie beside the user's own, which is never touched. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { messageOf } from '../process/error-code.js';
import { formatSshAddress } from './address.js';
import type { Asking } from './asking.js';
import { ownKnownHosts, writeWhole } from './machine-memory.js';
import { runProgram, sshArgs, sshEnvironment, sshProgram, type SshCommandOptions } from './ssh-command.js';
import { clientFailure, silentFailure, sshFailure, type SshFailure } from './ssh-failure.js';

/** Past the connection: a machine that was just switched on, or has much to do, shows its key only so late. */
const greetingMs = 20_000;

export interface ShownKey {
  /** `SHA256:...` */
  readonly fingerprint: string;
  /** Of a file of known hosts. */
  readonly lines: readonly string[];
}

/**
 * Asks for the key by the user's own configuration, through jump hosts and all, and leaves before anybody logs in. What is known of
 * the machine plays no part; a key is only shown.
 */
export async function showHostKey(
  options: SshCommandOptions,
  asking: Asking | null = null,
): Promise<ShownKey | SshFailure> {
  const ssh: SshCommandOptions = { ...options, asking };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-key-'));
  const file = path.join(folder, 'known_hosts');
  try {
    const args = sshArgs({ ...ssh, knownHosts: [file] }, null, 'true', {
      StrictHostKeyChecking: 'accept-new',
      GlobalKnownHostsFile: '/dev/null',
      HashKnownHosts: 'no',
      CheckHostIP: 'no',
      PreferredAuthentications: 'none',
    });
    // On the way there, jump hosts may have questions.
    const timeoutMs = ssh.connectTimeoutMs + greetingMs + (asking?.longestMs ?? 0);
    const env = sshEnvironment(ssh);
    const onStart = (kill: () => void): void => {
      if (asking !== null) asking.stop = kill;
    };
    const program = sshProgram(ssh.client);
    const end = await runProgram(program, args, { timeoutMs, env, onStart }).catch(messageOf);
    if (typeof end === 'string') return clientFailure(program, end);
    const { code, err, late } = end;
    const lines = readLines(file);
    const host = formatSshAddress(ssh.address).replace(/^ssh:\/\//, '');
    if (lines.length === 0) {
      const failure = late ? silentFailure(host, timeoutMs) : sshFailure(host, code ?? 255, err, '');
      return asking?.judge(failure) ?? failure;
    }
    asking?.succeeded();
    return { fingerprint: fingerprintOf(lines[0] ?? ''), lines };
  } finally {
    asking?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As ssh-keygen prints it: of the key itself, by itself, so that no other program has to be there and to answer. */
export function fingerprintOf(line: string): string {
  const key = Buffer.from(line.split(' ')[2] ?? '', 'base64');
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** From now on the machine is known by this key, whatever was accepted of it here before. */
export function acceptHostKey(home: string, key: ShownKey): void {
  const file = ownKnownHosts(home);
  const names = new Set(key.lines.map(nameOf));
  const others = readLines(file).filter((line) => !names.has(nameOf(line)));
  writeWhole(file, [...others, ...key.lines].map((line) => `${line}\n`).join(''));
}

function nameOf(line: string): string {
  return line.split(' ')[0] ?? '';
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  } catch {
    return []; // none were accepted yet
  }
}
