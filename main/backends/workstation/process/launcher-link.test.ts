/** A start that hangs holds up no other. Where that cannot be foreseen its launcher is replaced, and what is behind it goes on. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mintUid } from '../../../../test/harness/backend-probe.js';
import { eventually } from '../../../../test/harness/eventually.js';
import {
  hangingFolder,
  hangingObstacle,
  type HangingFolder,
} from '../../../../test/harness/hanging-folder.js';
import { launcherKinds, launcherOf } from '../../../../test/harness/process-backend.js';
import { readMountInfo } from '../../../machine/may-hang.js';
import { fence, readClaim } from './claim.js';
import { noGroups } from './control-groups.js';
import { createLauncherLink, type LauncherLink } from './launcher-link.js';
import type { LauncherEvent, StartItem } from './launcher-protocol.js';

/** Far longer than a start takes here, also when the processors are busy. */
const silenceMs = 1800;
let folder: string;
let hanging: string;
let hangs: HangingFolder;
let events: LauncherEvent[];
let link: LauncherLink;
/** What is told of mounts; undefined: the truth. */
let mountInfo: (() => string) | undefined;

function itemOf(where: string, uid = mintUid()): StartItem {
  const environment = { IRIS_ATTEMPT_UID: uid };
  const more = { timeLimitMs: null, stopSignal: 'SIGTERM', graceMs: 1000, limits: null, files: [] };
  return {
    uid,
    command: ['sh', '-c', 'touch "$0"', path.join(folder, `ran-${uid}`)],
    folder: where,
    environment,
    ...more,
  };
}

const of = (uid: string) => events.filter((event) => event.uid === uid);
const kinds = (uid: string) => of(uid).map(({ kind }) => kind);
const ran = (uid: string) => existsSync(path.join(folder, `ran-${uid}`));

describe.skipIf(hangingObstacle !== null).each(launcherKinds)('a start that hangs (%s)', (kind) => {
  beforeEach(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'iris-link-'));
    hanging = path.join(folder, 'hangs');
    for (const each of [hanging, path.join(folder, 'attempts')]) mkdirSync(each);
    hangs = await hangingFolder(hanging);
    events = [];
    mountInfo = undefined;
    link = createLauncherLink({
      launchers: [await launcherOf(kind)],
      setup: {
        kind: 'setup',
        attemptsFolder: path.join(folder, 'attempts'),
        supervisor: path.join(import.meta.dirname, 'supervisor.sh'),
        shell: '/bin/sh',
        bootId: null,
        loginEnvironment: { PATH: process.env['PATH'] ?? '' },
        umask: 0o022,
        groups: noGroups,
      },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now(),
      firstAfterMs: 0,
      silenceMs,
      mountInfo: () => (mountInfo ?? readMountInfo)(),
      onEvents: (more) => events.push(...more),
      onLost: () => undefined,
    });
  });
  afterEach(async () => {
    await hangs.release();
    await link.close();
    rmSync(folder, { recursive: true });
  });

  test('holds up nothing where its file system may do so, also when it is tried again, and is given up in its time', async () => {
    const lies = path.join(folder, 'link');
    symlinkSync(hanging, lies);
    for (const where of [lies, hanging]) {
      const [first, behind] = [itemOf(where), itemOf(folder)];
      const began = performance.now();
      link.start([first, behind]);
      await eventually(() => kinds(behind.uid)).toEqual(['started', 'ended']);
      expect(performance.now() - began).toBeLessThan(silenceMs / 2);
      await eventually(() => kinds(first.uid)).toEqual(['refused']);
      expect(performance.now() - began).toBeGreaterThan(2 * silenceMs - 5);
      expect(of(first.uid)).toMatchObject([{ fault: false, cause: { code: 'START_FAILED' } }]);
      expect(readClaim(path.join(folder, 'attempts', first.uid))).toEqual({ kind: 'fenced' });
    }
  });

  test('goes on once its file system answers, by its own fault or none', async () => {
    const [first, program] = [itemOf(hanging), { ...itemOf(folder), command: [path.join(hanging, 'run')] }];
    link.start([first, program]);
    await hangs.release();
    // Nothing is mounted there any more.
    await eventually(() => kinds(first.uid)).toEqual(['started', 'ended']);
    await eventually(() => of(program.uid)).toMatchObject([{ cause: { code: 'PROGRAM_NOT_FOUND' } }]);
  });

  test('one that nobody wants any more is not looked at any more', async () => {
    const [first, alike] = [itemOf(hanging), itemOf(hanging)];
    link.start([first]);
    expect(fence(path.join(folder, 'attempts', first.uid))).toBe(true);
    link.forget(first.uid);
    link.start([alike]);
    await hangs.release();
    await eventually(() => kinds(alike.uid)).toEqual(['started', 'ended']);
    expect(kinds(first.uid)).toEqual([]);
  });

  test('holds up what is behind it for a time where that was not foreseen, and is given up with all of its folder, once and for all', async () => {
    const [before, first, behind, second] = [folder, hanging, folder, hanging].map((where) => itemOf(where));
    if (before === undefined || first === undefined || behind === undefined || second === undefined) return;
    mountInfo = () => '';
    link.start([before, first, behind, second]);
    await eventually(() => kinds(first.uid)).toEqual(['refused']);
    expect(kinds(second.uid)).toEqual(['refused']);
    expect(of(first.uid)).toMatchObject([
      {
        fault: false,
        cause: {
          code: 'START_FAILED',
          message: `Neither the working folder ${hanging} nor its program could be looked at within 3.6 s: a file system there does not answer.`,
        },
      },
    ]);
    for (const { uid } of [before, behind]) await eventually(() => ran(uid)).toBe(true);
    const next = itemOf(folder);
    link.start([next]);
    await eventually(() => kinds(next.uid)).toEqual(['started', 'ended']);
    await hangs.release();
    for (const { uid } of [first, second]) {
      expect(readClaim(path.join(folder, 'attempts', uid))).toEqual({ kind: 'fenced' });
      expect(ran(uid)).toBe(false);
    }
  });

  test('one that nobody wants any more costs no other its start', async () => {
    const [first, behind] = [itemOf(hanging), itemOf(folder)];
    mountInfo = () => '';
    link.start([first]);
    await eventually(() => existsSync(path.join(folder, 'attempts', first.uid))).toBe(true);
    expect(fence(path.join(folder, 'attempts', first.uid))).toBe(true);
    link.forget(first.uid);
    link.start([behind]);
    await eventually(() => ran(behind.uid)).toBe(true);
    expect(events.filter(({ kind }) => kind === 'refused')).toEqual([]);
  });
});
