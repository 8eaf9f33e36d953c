/**
 * The launcher: a small process that starts supervisors for a backend, since forking a large one is slow. It keeps nothing: when
 * its parent goes it goes, attempts live on, and the next one finds them by their folders.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Cause } from '../../../../core/contract/views.js';
import { claimPath } from './claim.js';
import { createGroups, groupFolders, groupMembers } from './control-groups.js';
import { errorCode, isErrorCode, messageOf } from './error-code.js';
import type {
  FromLauncher,
  LauncherEvent,
  LauncherSetup,
  StartItem,
  ToLauncher,
} from './launcher-protocol.js';
import { createOrphans, type Orphans } from './orphans.js';
import { checkFolder, findProgram, type StartFault } from './program.js';
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

function refuse(uid: string, cause: Cause, exitCode: number | null, fault: boolean): void {
  events.push({ kind: 'refused', uid, cause, exitCode, fault });
}

function start(settings: LauncherSetup, item: StartItem): void {
  const folder = path.join(settings.attemptsFolder, item.uid);
  const work = path.join(folder, 'work');
  try {
    const made = makeFolders(folder, work);
    if (made === 'claimed') {
      events.push({ kind: 'claimed', uid: item.uid });
      return;
    }
  } catch (error) {
    const full = isErrorCode(error, 'ENOSPC') || isErrorCode(error, 'EDQUOT');
    const message = `The attempt's folder ${folder} could not be made: ${messageOf(error)}.`;
    refuse(item.uid, { code: full ? 'LOG_STORAGE_FULL' : 'START_FAILED', message }, null, false);
    return;
  }
  const environment = { ...settings.loginEnvironment, ...item.environment };
  const fault = checkStart(item, work, environment);
  if (typeof fault !== 'string') {
    refuse(item.uid, fault.cause, fault.exitCode, true);
    return;
  }
  spawnSupervisor(settings, item, folder, fault, environment);
}

/** The program's path, or why it cannot start. */
function checkStart(
  item: StartItem,
  work: string,
  environment: Readonly<Record<string, string>>,
): string | StartFault {
  const folder = checkFolder(item.folder);
  if (!folder.ok) return folder.fault;
  const program = findProgram(item.command[0] ?? '', item.folder, environment['PATH']);
  if (!program.ok) return program.fault;
  const staged = item.files.length === 0 ? null : stageFiles(work, item.files);
  return staged !== null && !staged.ok ? staged.fault : program.value;
}

function makeFolders(folder: string, work: string): 'made' | 'claimed' {
  for (const each of [folder, work]) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      if (!isErrorCode(error, 'EEXIST')) throw error;
      // A start that was asked for before: either somebody runs it, or nobody got that far.
      if (each === folder && readText(claimPath(folder)) !== null) return 'claimed';
    }
  }
  return 'made';
}

function spawnSupervisor(
  settings: LauncherSetup,
  item: StartItem,
  folder: string,
  program: string,
  environment: Readonly<Record<string, string>>,
): void {
  const startedMs = performance.now();
  let child: ChildProcess;
  try {
    const groups = item.limits === null ? [] : createGroups(settings.groups, item.uid, item.limits);
    if (groups.length > 0)
      writeFileSync(path.join(folder, 'groups'), JSON.stringify(groups), { mode: 0o600 });
    child = spawn(
      settings.shell,
      [
        settings.supervisor,
        folder,
        settings.umask.toString(8).padStart(3, '0'),
        item.timeLimitMs === null ? '-' : String(item.timeLimitMs / 1000),
        item.stopSignal.replace(/^SIG/, ''),
        String(item.graceMs / 1000),
        item.uid,
        String(groups.length),
        ...groups.map((group) => path.join(group, 'cgroup.procs')),
        program,
        ...item.command.slice(1),
      ],
      { cwd: item.folder, env: environment, detached: true, stdio: 'ignore' },
    );
  } catch (error) {
    refuseSpawn(item, error);
    return;
  }
  // Node reports some failures here and throws others.
  child.on('error', (error) => {
    refuseSpawn(item, error);
    schedule();
  });
  const pid = child.pid;
  if (pid === undefined) return;
  tellStarted({ kind: 'started', uid: item.uid, pid, atMs: Date.now() });
  child.on('exit', (code, signal) => {
    ended.push({ item, pid, startedMs, code, signal });
    schedule();
  });
}

function refuseSpawn(item: StartItem, error: unknown): void {
  const tooLong = errorCode(error) === 'E2BIG';
  const message = tooLong
    ? 'The command line and the environment together are longer than this system allows (E2BIG).'
    : `The command could not be started: ${messageOf(error)}.`;
  refuse(item.uid, { code: 'START_FAILED', message }, null, tooLong);
}

function reportEnded(): void {
  const batch = ended;
  ended = [];
  const now = Date.now();
  const nowMs = performance.now();
  orphans?.refresh();
  for (const { item, pid, startedMs, code, signal } of batch) {
    const folder = path.join(setup?.attemptsFolder ?? '', item.uid);
    events.push({
      kind: 'ended',
      uid: item.uid,
      pid,
      atMs: now,
      durationMs: Math.max(0, nowMs - startedMs),
      code,
      signal,
      claim: readText(claimPath(folder)) ?? '',
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

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null; // absent: the caller knows what that means
  }
}

process.on('message', (message: ToLauncher) => {
  if (message.kind === 'setup') {
    setup = message;
    orphans = createOrphans(message.shell, () => performance.now());
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
