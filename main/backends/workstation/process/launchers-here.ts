/** What starts and watches over attempts on this machine: the supervisor's text as a file, and the launchers in the order they are tried. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256 } from '../../../sha256.js';
import { forkServerCommand } from './fork-server.js';
import { forkServerKinds, type LauncherCommand } from './launcher-channel.js';
import type { LinkLog } from './launcher-link.js';
import supervisorText from './supervisor.sh?raw';

/**
 * The shell reads its text from a file. Named by its content, so that a newer version never changes a text that a running shell
 * is still reading.
 */
export function writeSupervisor(folder: string): string {
  const hash = sha256(supervisorText).slice(0, 12);
  const file = path.join(folder, `.supervisor-${hash}.sh`);
  // Not written over: a running shell would find it cut for a moment, and on a full disk for good.
  if (isText(file, supervisorText)) return file;
  const next = `${file}.${process.pid}`;
  try {
    writeFileSync(next, supervisorText, { mode: 0o600 });
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
  return file;
}

function isText(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8') === text;
  } catch {
    return false; // not there yet
  }
}

export function launchersHere(file: string, log: LinkLog): readonly LauncherCommand[] {
  const forkServers = forkServerKinds.map((kind) => forkServerCommand(kind)).filter((each) => each !== null);
  if (forkServers.length === 0)
    log.info(
      'This system has neither Python nor Perl: attempts are started by a process of Node, which is slower',
    );
  return [...forkServers, ownLauncher(file)];
}

/** Electron's executable is Node when asked to. */
function ownLauncher(file: string): LauncherCommand {
  const env: Record<string, string | undefined> = { ...process.env };
  delete env['NODE_OPTIONS'];
  if ('electron' in process.versions) env['ELECTRON_RUN_AS_NODE'] = '1';
  return { kind: 'node', command: process.execPath, args: [file], env };
}
