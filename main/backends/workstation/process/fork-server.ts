/**
 * The fork server (fork-server.py, fork-server.pl): a small process of Python or Perl that does what every start and every end needs.
 * What only some starts need, staged files and control groups, is made here before them.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants as fsConstants } from 'node:fs';
import os from 'node:os';
import { getSystemErrorName } from 'node:util';
import {
  attemptFolder,
  makeFolders,
  makeGroups,
  refuseByFault,
  refuseFolder,
  refuseSpawn,
  supervisorCommand,
  workFolder,
  type Refusal,
} from './attempt-start.js';
import { groupMembers, removeGroups } from './control-groups.js';
import { errorCode, messageOf } from './error-code.js';
import { ForkWords, setupFrame, startFrame, type ForkFault, type ForkWord } from './fork-frames.js';
import perlText from './fork-server.pl?raw';
import pythonText from './fork-server.py?raw';
import {
  endLauncher,
  type ChannelOptions,
  type LauncherChannel,
  type ForkServerKind,
  type LauncherCommand,
} from './launcher-channel.js';
import type { LauncherEvent, StartItem } from './launcher-protocol.js';
import { createOrphans, type Orphans } from './orphans.js';
import { folderFault, programFault, programPlaces, type ProgramPlaces } from './program.js';
import { stageFiles } from './staging.js';

/**
 * Where systems have them. Not searched for: one of a user's own making may lack its modules. On macOS the name of Python may stand
 * for an offer to install it.
 */
const files = {
  python: process.platform === 'linux' ? ['/usr/bin/python3', '/bin/python3', '/usr/local/bin/python3'] : [],
  perl: ['/usr/bin/perl', '/bin/perl', '/usr/local/bin/perl'],
} as const;

/** Without a look at the user's own settings, folders and packages. */
const argsOf = { python: ['-I', '-S', '-c', pythonText], perl: ['-e', perlText] } as const;

/** Null: this system has no such language. */
export function forkServerCommand(
  kind: ForkServerKind,
  places: readonly string[] = files[kind],
): LauncherCommand | null {
  const command = places.find(isExecutable);
  // Its environment is its own: options of the user's Perl have no business here. Attempts get theirs by message.
  return command === undefined
    ? null
    : { kind, command, args: argsOf[kind], env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, fsConstants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A start that was sent, until its end. */
interface Sent extends Pick<StartItem, 'uid' | 'folder'> {
  readonly program: string;
  readonly places: ProgramPlaces;
  readonly groups: readonly string[];
  readonly atMs: number;
  readonly monotonicMs: number;
}

const signalNames = new Map(Object.entries(os.constants.signals).map(([name, number]) => [number, name]));

export function openForkServer(options: ChannelOptions): LauncherChannel {
  const { launcher, setup } = options;
  const sent = new Map<string, Sent>();
  const words = new ForkWords();
  let orphans: Orphans | null = null;
  let over = false;
  // A session of its own: what a terminal sends to the program in front of it is not meant for it.
  const child = spawn(launcher.command, launcher.args, {
    cwd: '/',
    env: { ...launcher.env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });

  function finish(): void {
    over = true;
    orphans?.close();
    orphans = null;
  }

  function lost(why: string): void {
    if (over) return;
    finish();
    child.kill('SIGKILL');
    options.onLost(why);
  }

  function receive(piece: string): void {
    if (over) return;
    let said: readonly ForkWord[];
    try {
      said = words.push(piece);
    } catch (error) {
      lost(messageOf(error));
      return;
    }
    if (said.some(({ kind }) => kind === 'ended')) orphans?.refresh();
    const events = said.flatMap((word) => eventOf(word) ?? []);
    if (events.length > 0) options.onEvents(events);
  }

  function eventOf(word: ForkWord): LauncherEvent | null {
    if (word.kind === 'ready') {
      orphans = createOrphans(word.reaper, options.monotonicMs);
      options.onReady();
      return null;
    }
    const start = sent.get(word.uid);
    if (start === undefined) return null;
    if (word.kind === 'started') return { kind: 'started', uid: word.uid, pid: word.pid, atMs: start.atMs };
    sent.delete(word.uid);
    switch (word.kind) {
      case 'claimed':
        return word;
      case 'fault':
        removeGroups(start.groups);
        return refusalOf(setup.attemptsFolder, start, word.fault);
      case 'ended':
        return endOf(word, start);
    }
  }

  function endOf(word: Extract<ForkWord, { kind: 'ended' }>, start: Sent): LauncherEvent {
    const { uid, pid, code, claim } = word;
    return {
      kind: 'ended',
      uid,
      pid,
      atMs: options.nowMs(),
      durationMs: Math.max(0, options.monotonicMs() - start.monotonicMs),
      code,
      signal: word.signal === null ? null : (signalNames.get(word.signal) ?? String(word.signal)),
      claim,
      leftovers:
        word.groupAlive ||
        orphans === null ||
        orphans.has(uid, pid) ||
        (start.groups.length > 0 && groupMembers(start.groups).length > 0),
    };
  }

  /** Null when nothing is to be sent; `early` then has the reason. */
  function prepare(item: StartItem, early: LauncherEvent[]): Buffer | null {
    const { uid } = item;
    let groups: readonly string[] = [];
    if (item.files.length > 0 || item.limits !== null) {
      const made = makeAhead(item, early);
      if (made === null) return null;
      groups = made;
    }
    const name = item.command[0] ?? '';
    const searchPath = item.environment['PATH'] ?? setup.loginEnvironment['PATH'];
    const places = programPlaces(name, item.folder, searchPath);
    const { folder } = item;
    const now = { atMs: options.nowMs(), monotonicMs: options.monotonicMs() };
    sent.set(uid, { uid, folder, program: name, places, groups, ...now });
    return startFrame({
      uid,
      folder,
      before: supervisorCommand(setup, item, groups),
      files: places.files,
      after: item.command.slice(1),
      environment: item.environment,
    });
  }

  /** Staged files and control groups; the groups that were made. */
  function makeAhead(item: StartItem, early: LauncherEvent[]): readonly string[] | null {
    const { uid } = item;
    const folder = attemptFolder(setup, uid);
    try {
      if (makeFolders(folder) === 'claimed') {
        early.push({ kind: 'claimed', uid });
        return null;
      }
    } catch (error) {
      early.push(refuseFolder(uid, folder, errorCode(error), messageOf(error)));
      return null;
    }
    const staged = stageFiles(workFolder(folder), item.files);
    if (!staged.ok) {
      early.push(refuseByFault(uid, staged.fault));
      return null;
    }
    try {
      return makeGroups(setup, item, folder);
    } catch (error) {
      early.push(refuseSpawn(uid, errorCode(error), messageOf(error)));
      return null;
    }
  }

  child.stdout.setEncoding('latin1').on('data', receive);
  // Followed by its end, which is handled below.
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => lost(`the fork server could not be used: ${messageOf(error)}`));
  // After all it said.
  child.on('close', (code, signal) =>
    lost(`the fork server ended (${signal ?? `exit code ${code ?? 'unknown'}`})`),
  );
  child.stdin.write(setupFrame(setup.attemptsFolder, setup.loginEnvironment));
  return {
    pid: child.pid,
    start: (items) => {
      const early: LauncherEvent[] = [];
      const frames = items.map((item) => prepare(item, early)).filter((frame) => frame !== null);
      if (frames.length > 0) child.stdin.write(Buffer.concat(frames));
      // Never inside the call.
      if (early.length > 0)
        setImmediate(() => {
          if (!over) options.onEvents(early);
        });
    },
    // Without waiting for its end: what hangs in a file system may not even die.
    kill: () => lost('the fork server did not answer'),
    close: () => {
      finish();
      return endLauncher(child, () => child.stdin.end());
    },
  };
}

function refusalOf(attemptsFolder: string, start: Sent, fault: ForkFault): Refusal {
  const { uid, folder, places } = start;
  if (fault.step === 'program') {
    const file = places.files[fault.index] ?? '';
    return refuseByFault(uid, programFault(start.program, places, file, fault.state));
  }
  const code = fault.errno === 0 ? fault.message : getSystemErrorName(-fault.errno);
  const message = `${code}: ${fault.message}`;
  switch (fault.step) {
    case 'attempt':
      return refuseFolder(uid, `${attemptsFolder}/${uid}`, code, message);
    case 'cwd':
      return refuseByFault(uid, folderFault(folder, code, message));
    case 'fork':
    case 'exec':
      return refuseSpawn(uid, code, message);
  }
}
