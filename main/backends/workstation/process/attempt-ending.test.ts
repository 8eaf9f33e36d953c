/** What a killed process that does not go is told as. The pid lies beyond all a system gives, so nothing real is signalled. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import type { OwnedProcess, ProcessView } from '../../../machine/processes.js';
import type { AttemptObservation } from '../../backend.js';
import { AttemptEnding } from './attempt-ending.js';
import { newEntry, type AttemptEntry } from './attempt-entry.js';
import { Reporter } from './reporter.js';
import { createSessionEnder } from './session-end.js';

const stuckPid = 2 ** 22 + 1;
let nowMs: number;
let living: OwnedProcess[];
let entry: AttemptEntry;
let reports: AttemptObservation[];
let logged: string[];
let ending: AttemptEnding;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 0;
  reports = [];
  logged = [];
  const launch = launchOf({ command: ['true'] });
  entry = newEntry(launch.uid, `/attempts/${launch.uid}`, launch);
  entry.phase = 'running';
  entry.startedAtMs = 1;
  entry.supervisor = { bootId: 'boot', pid: stuckPid - 1, startTicks: 1 };
  entry.supervisorGone = true;
  living = [
    {
      pid: stuckPid,
      name: 'python3',
      state: 'D',
      parentPid: 1,
      groupId: 1,
      sessionId: 1,
      startTicks: 5,
      attemptUid: launch.uid,
    },
  ];
  const processes: ProcessView = {
    bootId: () => 'boot',
    read: (pid) => living.find((each) => each.pid === pid) ?? null,
    argv: () => [],
    scan: () => living,
    complete: true,
  };
  const log = {
    info: () => undefined,
    warn: (text: string) => void logged.push(text),
    error: () => undefined,
  };
  const monotonicMs = () => nowMs;
  const reporter = new Reporter({
    monotonicMs,
    log,
    onObservations: (batch) => reports.push(...batch),
    onEnded: () => undefined,
  });
  ending = new AttemptEnding({
    ender: createSessionEnder({ processes, monotonicMs, isProtected: () => false }),
    log,
    monotonicMs,
    report: (of, observation) => reporter.last(of, observation),
    warn: (of, warning) => reporter.warn(of, warning),
    devicesLeft: () => Promise.resolve(null),
    deviceFault: () => null,
    onConclude: () => undefined,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  for (const end = nowMs + ms; nowMs < end;) {
    nowMs += 100;
    await vi.advanceTimersByTimeAsync(100);
  }
}

test('a process that does not end although it was killed is named, and the attempt is not over before it is gone', async () => {
  const cause = { code: 'SUPERVISOR_LOST', message: 'lost' } as const;
  const status = { kind: 'exit', code: 0 } as const;
  ending.finish(entry, { finishedAtMs: 9, durationMs: 8, status, otherwise: cause }, true);
  await pass(11_900);
  expect(reports).toEqual([]);
  await pass(1000);
  const message = `Processes do not end although they were killed: ${stuckPid} (python3, state D).`;
  const warnings = [{ code: 'PROCESSES_REMAIN', message }];
  expect(reports).toMatchObject([{ uid: entry.uid, state: 'RUNNING', cause: null, warnings }]);
  expect(logged).toEqual([message]);
  // Said once, however long it lasts.
  await pass(60_000);
  expect(reports).toHaveLength(1);
  living = [];
  await pass(1000);
  expect(reports).toHaveLength(2);
  expect(reports[1]).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, cause: null, durationMs: 8, warnings });
});

test('a success of which the system ended a process for want of memory says so', async () => {
  const group = mkdtempSync(path.join(os.tmpdir(), 'iris-group-'));
  onTestFinished(() => rmSync(group, { recursive: true }));
  writeFileSync(path.join(group, 'memory.events'), 'oom 1\noom_kill 1\n');
  entry.groups = [group];
  living = [];
  const cause = { code: 'SUPERVISOR_LOST', message: 'lost' } as const;
  const status = { kind: 'exit', code: 0 } as const;
  ending.finish(entry, { finishedAtMs: 9, durationMs: 8, status, otherwise: cause }, false);
  await pass(100);
  expect(reports).toMatchObject([
    { state: 'SUCCEEDED', exitCode: 0, cause: null, warnings: [{ code: 'MEMORY_LIMIT' }] },
  ]);
});
