/** What the far hand is told to start one attempt, and what its refusals mean. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { getSystemErrorName } from 'node:util';
import type { GpuView } from '../../../../core/contract/gpus.js';
import { isConfinedPath } from '../../../../core/contract/job-request.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { AttemptLaunch, StopNotice } from '../../backend.js';
import {
  refuseByFault,
  refuseFolder,
  refuseSpawn,
  silentStart,
  supervisorCommand,
  type Refusal,
} from '../process/attempt-start.js';
import { noGroups } from '../process/control-groups.js';
import {
  folderFault,
  programFault,
  programPlaces,
  programStates,
  type ProgramPlaces,
} from '../process/program.js';
import { stagingFault } from '../process/staging.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import { attemptEnvironment } from '../process/task-environment.js';
import type { FarText, FarWord } from './far-words.js';

/** What the hand told of where it works. */
export interface FarPlace {
  /** Of all attempts. */
  readonly folder: string;
  readonly supervisor: string;
  readonly umask: number;
  readonly searchPath: string | undefined;
  /** PYTHONUNBUFFERED is set there. */
  readonly unbuffered: boolean;
}

export interface FarFile {
  readonly path: string;
  readonly hash: string;
  readonly content: Uint8Array;
}

/** Null: one would leave the attempt's folder, which is never sent. */
export function stagedFiles(files: AttemptLaunch['spec']['files']): readonly FarFile[] | null {
  if (!files.every((file) => isConfinedPath(file.path))) return null;
  return files.map((file) => {
    const content = Buffer.from(file.contentBase64, 'base64');
    return { path: file.path, hash: createHash('sha256').update(content).digest('hex'), content };
  });
}

export function placesOf({ spec, environment }: AttemptLaunch, place: FarPlace): ProgramPlaces {
  return programPlaces(spec.command[0] ?? '', spec.workingDirectory, environment['PATH'] ?? place.searchPath);
}

/** What it would have for itself there; the head of far-hand.pl says what each is. */
export function claimTexts({ spec, devices }: AttemptLaunch): readonly string[] {
  const flags = [spec.image !== null, spec.sharedGpuBytes !== null].map((on) => (on ? '1' : '0'));
  return [...flags, String(spec.cpuMillicores), String(spec.memoryBytes), ...devices];
}

export function startTexts(
  launch: AttemptLaunch,
  place: FarPlace,
  files: readonly FarFile[],
  gpus: readonly GpuView[],
): readonly FarText[] {
  const { uid, spec } = launch;
  const setup = {
    kind: 'setup',
    attemptsFolder: place.folder,
    supervisor: place.supervisor,
    shell: '/bin/sh',
    bootId: null,
    loginEnvironment: {},
    umask: place.umask,
    groups: noGroups,
  } as const;
  const item = {
    uid,
    command: spec.command,
    folder: spec.workingDirectory,
    environment: {},
    files: [],
    timeLimitMs: spec.timeoutMs,
    stopSignal: spec.stopSignal,
    graceMs: spec.graceMs,
    limits: null,
  };
  const lists = [
    supervisorCommand(setup, item, []),
    placesOf(launch, place).files,
    spec.command.slice(1),
    files.flatMap((file) => [file.path, file.hash]),
    claimTexts(launch),
  ];
  const login: Record<string, string> = place.unbuffered ? { PYTHONUNBUFFERED: '1' } : {};
  const work = path.posix.join(place.folder, uid, 'work');
  return [
    'start',
    uid,
    spec.workingDirectory,
    String(spec.timeoutMs ?? ''),
    spec.memoryIsLimit ? '1' : '0',
    ...lists.flatMap((list) => [String(list.length), ...list]),
    ...Object.entries(attemptEnvironment(launch, login, work, gpus)).flat(),
  ];
}

/** `word`: `fault UID STEP DETAIL...` */
export function farRefusal(word: FarWord, launch: AttemptLaunch, place: FarPlace): Refusal {
  const { uid, spec } = launch;
  const step = word.text(1);
  if (step === 'program') {
    const places = placesOf(launch, place);
    const state = programStates.find((one) => one === word.text(2)) ?? 'missing';
    return refuseByFault(
      uid,
      programFault(spec.command[0] ?? '', places, places.files[word.number(3) ?? 0] ?? '', state),
    );
  }
  if (step === 'stage') {
    const message = `The staged file ${word.text(2)} could not be written there: ${word.text(3)}.`;
    return refuseByFault(uid, stagingFault(systemCode(word.number(4)), message));
  }
  const refused = (cause: Cause): Refusal => ({ kind: 'refused', uid, fault: false, exitCode: null, cause });
  if (step === 'silent') return refused(silentStart(spec.workingDirectory, word.text(2), launch.workerId));
  const claim = claimRefusal(word, 1, launch);
  if (claim !== null) return refused(claim);
  const code = systemCode(word.number(2)) ?? word.text(3);
  const message = `${code}: ${word.text(3)}`;
  if (step === 'attempt') return refuseFolder(uid, `${place.folder}/${uid}`, code, message);
  if (step === 'cwd') return refuseByFault(uid, folderFault(spec.workingDirectory, code, message));
  return refuseSpawn(uid, code, message);
}

/** By its number there; undefined: none was told. */
export function systemCode(number: number | null): string | undefined {
  return number === null || number === 0 ? undefined : getSystemErrorName(-number);
}

/** `claimed DEVICE OWNER ATTEMPT`, `unclaimable WHY`; null: another word. Neither is a fault of the task. */
export function claimRefusal(word: FarWord, at: number, { workerId }: AttemptLaunch): Cause | null {
  const [kind, first, owner, attempt] = [0, 1, 2, 3].map((index) => word.text(at + index));
  if (kind === 'claimed') {
    const message = `${first ?? ''} is claimed by ${owner ?? ''} for the attempt ${attempt ?? ''} on the machine ${workerId}.`;
    return { code: 'GPU_CLAIMED', message };
  }
  return kind === 'unclaimable'
    ? { code: 'GPU_UNCLAIMABLE', message: unclaimable(workerId, first ?? '') }
    : null;
}

/** Why no card of that machine is given out. */
export function unclaimable(machine: string, why: string): string {
  return `Its GPUs cannot be claimed on the machine ${machine}, so none is given out: ${why}.`;
}

const lostCardGraceMs = 2000;

/** How the hand is told to end one whose memory is too much, or a card of which is gone; null: it may go on. */
export function endTexts({ uid, overMemory, deviceFault }: AttemptEntry): readonly string[] | null {
  if (overMemory) return ['stop', uid, 'KILL', '0', ''];
  return deviceFault?.ended === true ? ['stop', uid, 'TERM', String(lostCardGraceMs), ''] : null;
}

/** What its task finds as preemption.json: by its own clock, which is so far ahead. */
export function noticeText(notice: StopNotice, clockSkewMs: number): string {
  const deadline = new Date(Math.round(notice.deadlineMs + clockSkewMs)).toISOString();
  const told = { deadline, reason: notice.reason };
  return `${JSON.stringify(told)}\n`;
}
