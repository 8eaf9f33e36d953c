/** The record of rounds: turned on twice, where it cannot be written, and where it becomes too long. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import { RoundDecoder, type RecordedRound } from '../../core/scheduling/record.js';
import { inputOf } from '../../core/scheduling/replay.js';
import { TestCluster, worker } from '../../core/scheduling/test-cluster.js';
import { RoundRecorder } from './round-recorder.js';

let folder: string;
let nowMs: number;
let warned: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-rounds-'));
  nowMs = Date.UTC(2026, 0, 5);
  warned = [];
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const recorder = (at: string, maxRecordBytes?: number) =>
  new RoundRecorder(at, {
    logger: { info: () => undefined, warn: (text) => warned.push(text), error: (text) => warned.push(text) },
    nowMs: () => nowMs,
    ...(maxRecordBytes === undefined ? {} : { maxRecordBytes }),
  });

function round(): RecordedRound {
  const world = new TestCluster([worker('w1')]);
  world.submit('/ann/a');
  const input = inputOf(world.cluster, world.nowMs, world.rules);
  return { input, decision: world.decide() };
}

function roundsIn(file: string): number {
  const decoder = new RoundDecoder();
  const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
  return lines.map((line) => decoder.decode(line)).length;
}

it('turned on again goes on with the same file, readable by its owner alone', async () => {
  const made = recorder(path.join(folder, 'rounds'));
  const file = (await made.set(true)) ?? '';
  made.note(round());
  nowMs += 60_000;
  expect(await made.set(true)).toBe(file);
  made.note(round());
  expect(await made.set(false)).toBeNull();
  expect(readdirSync(path.join(folder, 'rounds'))).toEqual([path.basename(file)]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(roundsIn(file)).toBe(2);
  expect(await made.set(false)).toBeNull();
});

describe('a record that cannot be made', () => {
  it('is refused with the file and the reason, and stays off', async () => {
    const inTheWay = path.join(folder, 'rounds');
    writeFileSync(inTheWay, 'no folder');
    const made = recorder(inTheWay);
    const refused: unknown = await made.set(true).catch((error: unknown) => error);
    if (!(refused instanceof RefusalError)) throw new Error('it was not refused');
    expect(refused.refusal.code).toBe('STORAGE_FAILED');
    expect(refused.refusal.message).toContain(
      `${inTheWay}/rounds-2026-01-05T00-00-00.000Z.jsonl.gz cannot be made: `,
    );
    expect(refused.refusal.message).toMatch(/EEXIST|ENOTDIR/);
    expect(made.isOn).toBe(false);
    made.note(round());
    rmSync(inTheWay);
    expect(await made.set(true)).not.toBeNull();
    await made.stop();
  });
});

it('that becomes too long is ended, whole, and says so', async () => {
  const made = recorder(folder, 1);
  const file = (await made.set(true)) ?? '';
  made.note(round());
  expect([made.isOn, made.path]).toEqual([false, null]);
  expect(warned).toEqual(['The record of rounds has become too long and was ended']);
  made.note(round());
  await expect.poll(() => wholeOf(file)).toBe(1);
});

/** Rounds in a file that is whole; -1 while it is not. */
function wholeOf(file: string): number {
  try {
    return roundsIn(file);
  } catch {
    return -1;
  }
}
