/**
 * The launcher for systems where the fork server cannot be had: a process of Node that starts supervisors for a backend, since
 * forking the host itself is slower still. It keeps nothing: when its parent goes it goes, attempts live on, and the next one
 * finds them by their folders.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import {
  attemptFolder,
  makeFolders,
  makeGroups,
  readClaimText,
  refuseByFault,
  refuseFolder,
  refuseSpawn,
  supervisorCommand,
  workFolder,
} from './attempt-start.js';
import { groupFolders, groupMembers } from './control-groups.js';
import { errorCode, messageOf } from './error-code.js';
import type {
  FromLauncher,
  LauncherEvent,
  LauncherSetup,
  StartItem,
  ToLauncher,
} from './launcher-protocol.js';
import { createOrphans, findReaper, type Orphans } from './orphans.js';
import { checkFolder, findProgram, programPlaces, type Checked } from './program.js';
import { stageFiles } from './staging.js';

interface Ended {
  readonly item: StartItem;
  readonly pid: number;
  readonly startedMs: number;
  readonly code: number | null;
  readonly signal: string | null;
}

let setup: LauncherSetup | null = null;
let orphans: Orphans | null = null;
const queue: StartItem[] = [];
let events: LauncherEvent[] = [];
let ended: Ended[] = [];
let pumping = false;

/** A parent that is gone is the end of this program, as its closed channel is; which of the two is seen first is chance. */
function send(message: FromLauncher): void {
  process.send?.(message, (error: Error | null) => {
    if (error !== null) process.exit(0);
  });
}

/** A start is told this much later, so that the end of a short command comes in the same message. */
const startedDelayMs = 5;
let started: LauncherEvent[] = [];
let startedTimer: NodeJS.Timeout | null = null;

function tellStarted(event: LauncherEvent): void {
  started.push(event);
  startedTimer ??= setTimeout(() => {
    startedTimer = null;
    schedule();
  }, startedDelayMs);
}

function flush(): void {
  if (ended.length > 0) reportEnded();
  if (events.length === 0 && startedTimer !== null) return;
  // Starts go before the ends that may be theirs.
  const batch = [...started, ...events];
  if (batch.length === 0) return;
  if (startedTimer !== null) clearTimeout(startedTimer);
  startedTimer = null;
  started = [];
  events = [];
  send({ kind: 'events', events: batch });
}

/** One start a turn, so that ends are seen between starts. */
function pump(): void {
  pumping = false;
  const item = queue.shift();
  if (item !== undefined && setup !== null) start(setup, item);
  flush();
  schedule();
}

function schedule(): void {
  const waiting = queue.length + events.length + ended.length + (startedTimer === null ? started.length : 0);
  if (pumping || waiting === 0) return;
  pumping = true;
  setImmediate(pump);
}

function start(settings: LauncherSetup, item: StartItem): void {
  const folder = attemptFolder(settings, item.uid);
  try {
    if (makeFolders(folder) === 'claimed') {
      events.push({ kind: 'claimed', uid: item.uid });
      return;
    }
  } catch (error) {
    events.push(refuseFolder(item.uid, folder, errorCode(error), messageOf(error)));
    return;
  }
  const environment = { ...settings.loginEnvironment, ...item.environment };
  const program = checkStart(item, workFolder(folder), environment);
  if (program.ok) spawnSupervisor(settings, item, folder, program.value, environment);
  else events.push(refuseByFault(item.uid, program.fault));
}

/** The program's path, or why it cannot start. */
function checkStart(
  item: StartItem,
  work: string,
  environment: Readonly<Record<string, string>>,
): Checked<string> {
  const folder = checkFolder(item.folder);
  if (!folder.ok) return folder;
  const name = item.command[0] ?? '';
  const program = findProgram(name, programPlaces(name, item.folder, environment['PATH']));
  if (!program.ok || item.files.length === 0) return program;
  const staged = stageFiles(work, item.files);
  return staged.ok ? program : staged;
}

function spawnSupervisor(
  settings: LauncherSetup,
  item: StartItem,
  folder: string,
  program: string,
  environment: Readonly<Record<string, string>>,
): void {
  const { uid } = item;
  const startedMs = performance.now();
  let child: ChildProcess;
  try {
    const [shell, ...args] = supervisorCommand(settings, item, makeGroups(settings, item, folder));
    child = spawn(shell, [...args, program, ...item.command.slice(1)], {
      cwd: item.folder,
      env: environment,
      detached: true,
      stdio: 'ignore',
    });
  } catch (error) {
    events.push(refuseSpawn(uid, errorCode(error), messageOf(error)));
    return;
  }
  // Node reports some failures here and throws others.
  child.on('error', (error) => {
    events.push(refuseSpawn(uid, errorCode(error), messageOf(error)));
    schedule();
  });
  const pid = child.pid;
  if (pid === undefined) return;
  tellStarted({ kind: 'started', uid, pid, atMs: Date.now() });
  child.on('exit', (code, signal) => {
    ended.push({ item, pid, startedMs, code, signal });
    schedule();
  });
}

function reportEnded(): void {
  const batch = ended;
  ended = [];
  const now = Date.now();
  const nowMs = performance.now();
  orphans?.refresh();
  for (const { item, pid, startedMs, code, signal } of batch) {
    events.push({
      kind: 'ended',
      uid: item.uid,
      pid,
      atMs: now,
      durationMs: Math.max(0, nowMs - startedMs),
      code,
      signal,
      claim: (setup === null ? null : readClaimText(attemptFolder(setup, item.uid))) ?? '',
      leftovers: orphans === null || orphans.has(item.uid, pid) || groupAlive(pid) || groupsAlive(item),
    });
  }
}

function groupsAlive(item: StartItem): boolean {
  if (setup === null || item.limits === null) return false;
  return groupMembers(groupFolders(setup.groups, item.uid, item.limits)).length > 0;
}

function groupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

process.on('message', (message: ToLauncher) => {
  if (message.kind === 'setup') {
    setup = message;
    orphans = createOrphans(findReaper(message.shell), () => performance.now());
    send({ kind: 'ready', pid: process.pid });
  } else {
    for (const item of message.items) queue.push(item);
  }
  schedule();
});
process.on('disconnect', () => process.exit(0));
// A terminal's Ctrl-C is meant for the program in front of it.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
