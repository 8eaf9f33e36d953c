/** A launcher that hangs at one start is replaced, and what is behind that start goes on. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
      onEvents: (more) => events.push(...more),
      onLost: () => undefined,
    });
  });
  afterEach(async () => {
    await hangs.release();
    await link.close();
    rmSync(folder, { recursive: true });
  });

  test('holds up what is behind it for a time, and is given up with all of its folder, once and for all', async () => {
    const [before, first, behind, second] = [folder, hanging, folder, hanging].map((where) => itemOf(where));
    if (before === undefined || first === undefined || behind === undefined || second === undefined) return;
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
    link.start([first]);
    await eventually(() => existsSync(path.join(folder, 'attempts', first.uid))).toBe(true);
    expect(fence(path.join(folder, 'attempts', first.uid))).toBe(true);
    link.forget(first.uid);
    link.start([behind]);
    await eventually(() => ran(behind.uid)).toBe(true);
    expect(events.filter(({ kind }) => kind === 'refused')).toEqual([]);
  });
});
