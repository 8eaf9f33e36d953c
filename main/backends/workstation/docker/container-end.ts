/** What the end of a container means for its attempt. */
import path from 'node:path';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import type { Cause } from '../../../../core/contract/views.js';
import {
  daemonSentence,
  readDaemonError,
  type DaemonErrorKind,
} from '../../../../core/formats/docker/daemon-errors.js';
import {
  isFull,
  roomAdvice,
  roomSentence,
  type DataRoom,
} from '../../../../core/formats/docker/data-room.js';
import { withLastWords } from '../../../../core/formats/last-words.js';
import type { ContainerView } from '../../../../core/formats/docker/inspect.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import { lastLine, lastWords } from '../process/last-words.js';
import { killedForMemory, outcomeOf, signalOf } from '../process/outcome.js';
import { noteFile, readNote, unreadable, type AttemptEnd } from './attempt-note.js';
import { pauseOf, waits } from './attempt-turns.js';
import type { ContainerContext } from './container-context.js';
import type { Watched } from './container-hub.js';
import { containerName } from './container-plan.js';
import type { EngineRefusal } from './engine.js';

/** Signals that are sent to end something: HUP, INT, QUIT, KILL, TERM. */
const endingSignals = new Set([1, 2, 3, 9, 15]);
/** A stop from outside that was so long ago did not end it. */
const recentMs = 60_000;
/** The Engine was lost this much later than it killed what it ran. */
const shutdownMs = 15_000;

/** `full`: the Engine had no room for its data while it ran. */
export function endOfRun(
  entry: AttemptEntry,
  view: ContainerView,
  seen: Watched,
  nowMs: number,
  full: DataRoom | null,
): AttemptEnd {
  if (view.startError !== null && view.startedAtMs === null)
    return refusedEnd(view.startError, entry.launch?.spec ?? null, nowMs, full);
  const times = timesOf(entry, view, nowMs);
  const endedByUs = entry.stop !== null || entry.deviceFault?.ended === true || entry.overMemory;
  const lost = endedByUs ? null : lossOf(view, seen, times.finishedAtMs);
  if (lost !== null)
    return {
      ...times,
      state: 'WORKER_FAILED',
      exitCode: view.exitCode,
      signal: signalOf(view.exitCode),
      cause: lost,
    };
  const spec = entry.launch?.spec;
  const outOfMemory = view.outOfMemory || seen.outOfMemory;
  const limitBytes = view.memoryLimitBytes;
  const unfound = unfoundProgram(entry, view.exitCode);
  if (unfound !== null && entry.stop === null)
    return { ...times, state: 'FAILED', exitCode: view.exitCode, signal: null, cause: unfound };
  const outcome = outcomeOf({
    code: view.exitCode,
    timedOut: false,
    stop: entry.stop !== null && entry.stop.signals.size > 0 ? entry.stop : null,
    memory:
      entry.overMemory && spec !== undefined
        ? { limitBytes: spec.memoryBytes, measured: true }
        : outOfMemory && limitBytes !== null
          ? { limitBytes: spec?.memoryBytes ?? limitBytes, measured: false }
          : null,
    timeLimitMs: spec?.timeoutMs ?? null,
    fullDisk: null,
    words: view.exitCode === 0 ? null : lastWords(entry.folder, spec?.tty === true),
    deviceFault: entry.deviceFault,
    program: spec?.command[0] ?? 'The command',
    otherwise: { code: 'CONTAINER_LOST', message: 'The Engine does not know how its container ended.' },
  });
  const byItself = outcome.cause?.code === 'EXIT_CODE' || outcome.cause?.code === 'EXIT_OR_SIGNAL';
  if (full === null || !byItself) return { ...times, ...outcome };
  const message = `${spec?.command[0] ?? 'The command'} ended with exit code ${view.exitCode ?? '?'}, and while it ran there was no room for what it writes: ${roomSentence(full)} ${roomAdvice}`;
  return { ...times, ...outcome, cause: { code: 'DOCKER_STORAGE_FULL', message } };
}

/** Its command may have run, and its container is not there to tell how it ended. */
export function unfollowed({ uid, folder }: Pick<AttemptEntry, 'uid' | 'folder'>): Cause {
  const name = containerName(uid, 'run');
  const why =
    readNote(folder) === unreadable
      ? `What was noted of it in ${noteFile(folder)} cannot be read, and there is no container ${name}`
      : `Its container ${name} was removed by somebody else`;
  const message = `${why}, so how it ended is not known and its log may lack its end.`;
  return { code: 'CONTAINER_LOST', message };
}

/** A card of one that failed may have been lost under it: that is no failure of its own. */
export async function lookAtDevices(
  { devicesLeft, deviceFault, reporter }: ContainerContext,
  entry: AttemptEntry,
): Promise<void> {
  if ((entry.launch?.devices.length ?? 0) === 0) return;
  const warning = await devicesLeft(entry);
  if (warning !== null) reporter.warn(entry, warning);
  const reason = deviceFault(entry);
  if (reason !== null) entry.deviceFault ??= { reason, ended: false };
}

/** The init program inside tells in the task's error output that there is no such command. */
function unfoundProgram(entry: AttemptEntry, code: number | null): Cause | null {
  if (code !== 126 && code !== 127 && code !== 1) return null;
  const said = lastLine(path.join(entry.folder, 'err'));
  const why = /^\[FATAL tini \(\d+\)\] exec .* failed: (.*)$/.exec(said ?? '')?.[1];
  if (why === undefined) return null;
  const spec = entry.launch?.spec;
  const program = spec?.command[0] ?? 'The command';
  if (code === 1)
    return {
      code: 'PROGRAM_NOT_EXECUTABLE',
      message: `${program} in the image ${spec?.image ?? ''} cannot be executed (${why}): mostly the image was built for another kind of processor.`,
    };
  return code === 127
    ? { code: 'PROGRAM_NOT_FOUND', message: `${program} was not found in the image ${spec?.image ?? ''}.` }
    : {
        code: 'PROGRAM_NOT_EXECUTABLE',
        message: `${program} in the image ${spec?.image ?? ''} cannot be executed.`,
      };
}

/** Of set-up scripts these say more than that they failed. */
const keptCauses: ReadonlySet<Cause['code']> = new Set(['MEMORY_LIMIT', 'TIME_LIMIT', 'DOCKER_STORAGE_FULL']);

/** Null: it went well. */
export function endOfSetUp(
  entry: AttemptEntry,
  view: ContainerView,
  seen: Watched,
  nowMs: number,
  full: DataRoom | null,
): AttemptEnd | null {
  if (view.exitCode === 0 && entry.stop === null) return null;
  const end = endOfRun(entry, view, seen, nowMs, full);
  if (end.state !== 'FAILED' || keptCauses.has(end.cause?.code ?? 'UNKNOWN')) {
    return end.state === 'SUCCEEDED'
      ? {
          ...end,
          state: 'KILLED',
          cause: { code: 'STOPPED_BY_USER', message: 'The task was stopped on request.' },
        }
      : end;
  }
  if (view.startError !== null) return end;
  const said = lastLine(path.join(entry.folder, 'err')) ?? lastLine(path.join(entry.folder, 'out'));
  const cause: Cause = {
    code: 'SETUP_FAILED',
    message: withLastWords(
      `A set-up script ended with exit code ${view.exitCode ?? '?'}, so the command was not run.`,
      said,
    ),
  };
  return { ...end, cause };
}

/** As it ended, with what is known of its memory by then; of what only a part of it lacked it is warned. */
export async function withMemory(
  reporter: Pick<ContainerContext['reporter'], 'warn'>,
  entry: AttemptEntry,
  view: ContainerView,
  seen: Watched,
  look: () => Promise<ContainerView | null>,
): Promise<ContainerView> {
  const last = await lastLook(entry, view, seen, look);
  const killed = last.outOfMemory || seen.outOfMemory;
  const warning = killedForMemory(
    killed,
    last.exitCode,
    entry.launch?.spec.memoryBytes ?? last.memoryLimitBytes,
  );
  if (warning !== null) reporter.warn(entry, warning);
  return last;
}

/** Killed by the kernel for want of memory, or by somebody: the Engine may learn it a moment later. */
async function lastLook(
  entry: AttemptEntry,
  view: ContainerView,
  seen: Watched,
  look: () => Promise<ContainerView | null>,
): Promise<ContainerView> {
  let last = view;
  const unclear = (): boolean =>
    last.exitCode === 137 && !last.outOfMemory && !seen.outOfMemory && last.memoryLimitBytes !== null;
  if (entry.stop !== null) return last;
  // So may the word of who ended it.
  if ((last.exitCode ?? 0) > 128 && seen.signals.length === 0) await pauseOf(waits.latePauseMs);
  for (let looks = 0; looks < waits.outOfMemoryLooks && unclear(); looks += 1) {
    await pauseOf(100);
    last = (await look()) ?? last;
  }
  return last;
}

/** Ended by somebody who is not us, or with the Engine. */
function lossOf(view: ContainerView, seen: Watched, finishedAtMs: number): Cause | null {
  if (view.outOfMemory || seen.outOfMemory) return null;
  const code = view.exitCode;
  const foreign = seen.signals.filter(({ signal }) => endingSignals.has(signal)).at(-1);
  if (foreign !== undefined && finishedAtMs - foreign.atMs < recentMs) {
    const how = signalOf(128 + foreign.signal) ?? String(foreign.signal);
    return {
      code: 'CONTAINER_LOST',
      message: `Its container was stopped from outside (${how} by docker stop, docker kill or the end of the Docker Engine), not by Iris.`,
    };
  }
  // 255 is what an Engine says of one whose processes it did not find when it began again, as after a loss of power.
  const byForce = code === null || code === 137 || code === 143 || code === 255;
  const isLost =
    (byForce || !seen.isFar) && seen.lostAtMs !== null && finishedAtMs >= seen.lostAtMs - shutdownMs;
  if (code !== 0 && (seen.forgotten || isLost)) {
    return {
      code: 'CONTAINER_LOST',
      message: `The Docker Engine ended or was restarted while it ran, and its container ended with it${code === null ? '' : ` (exit code ${code})`}.`,
    };
  }
  return null;
}

function timesOf(
  entry: AttemptEntry,
  view: ContainerView,
  nowMs: number,
): Pick<AttemptEnd, 'startedAtMs' | 'finishedAtMs' | 'durationMs'> {
  const startedAtMs = entry.startedAtMs ?? view.startedAtMs;
  // Both by the Engine's clock, which may differ from ours.
  const durationMs =
    view.startedAtMs === null || view.finishedAtMs === null
      ? null
      : Math.max(0, view.finishedAtMs - view.startedAtMs);
  const finishedAtMs = view.finishedAtMs ?? nowMs;
  return { startedAtMs, finishedAtMs: Math.max(finishedAtMs, startedAtMs ?? 0), durationMs };
}

const startCauses: Partial<
  Record<DaemonErrorKind, Pick<Cause, 'code'> & { readonly exitCode: number | null }>
> = {
  PROGRAM_NOT_FOUND: { code: 'PROGRAM_NOT_FOUND', exitCode: 127 },
  PROGRAM_NOT_EXECUTABLE: { code: 'PROGRAM_NOT_EXECUTABLE', exitCode: 126 },
  FOLDER_MISSING: { code: 'FOLDER_MISSING', exitCode: null },
  FOLDER_DENIED: { code: 'FOLDER_NOT_PERMITTED', exitCode: null },
  NO_SUCH_IMAGE: { code: 'IMAGE_UNAVAILABLE', exitCode: null },
};

/**
 * The Engine refused to make or start it. What is wrong with the machine is no fault of the job. `room`: what it has for its data; when
 * that is full, words of the Engine that say nothing else are about it.
 */
export function refusedEnd(
  refused: EngineRefusal | string,
  spec: JobSpec | null,
  nowMs: number,
  room: DataRoom | null,
): AttemptEnd {
  const reason = typeof refused === 'string' ? readDaemonError(refused) : refused.reason;
  const known = startCauses[reason.kind];
  const lost = reason.kind === 'NO_SUCH_CONTAINER' || reason.kind === 'RUNS_UNSEEN';
  const isUnclear = reason.kind === 'OTHER' || reason.kind === 'INIT_MISSING';
  const noRoom = reason.kind === 'NO_SPACE' || (isUnclear && room !== null && isFull(room));
  const infrastructure =
    noRoom || lost || (typeof refused !== 'string' && refused.status >= 500 && reason.kind === 'OTHER');
  const program = spec?.command[0] ?? 'the command';
  const what =
    known?.code.startsWith('PROGRAM') === true
      ? `${program} in the image ${spec?.image ?? ''}`
      : `The container of ${program}`;
  const code = known?.code ?? (lost ? 'CONTAINER_LOST' : noRoom ? 'DOCKER_STORAGE_FULL' : 'START_FAILED');
  const where = noRoom && room !== null ? ` ${roomSentence(room)}` : '';
  const advice = noRoom && reason.kind !== 'NO_SPACE' ? ` ${roomAdvice}` : '';
  return {
    state: infrastructure ? 'WORKER_FAILED' : 'FAILED',
    finishedAtMs: nowMs,
    startedAtMs: null,
    durationMs: null,
    exitCode: known?.exitCode ?? null,
    signal: null,
    cause: { code, message: `${what} could not be started: ${daemonSentence(reason)}${where}${advice}` },
  };
}
