import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OwnedProcess, ProcessView } from '../../../machine/processes.js';
import { createSessionEnder, type EndTarget } from './session-end.js';

let lookMs: number;
let nowMs: number;
let living: OwnedProcess[];
let looks: number;
let protectedPids: Set<number>;

const processOf = (pid: number, more: Partial<OwnedProcess> = {}): OwnedProcess => ({
  pid,
  name: 'python3',
  state: 'S',
  parentPid: 1,
  groupId: pid,
  sessionId: pid,
  startTicks: pid,
  attemptUid: null,
  ...more,
});
const targetOf = (pid: number, more: Partial<EndTarget> = {}): EndTarget => ({
  uid: `uid-${pid}`,
  supervisorPid: pid,
  supervisorStartTicks: null,
  sessionKnown: true,
  groups: [],
  ...more,
});

function enderOf() {
  const processes: ProcessView = {
    bootId: () => 'boot',
    // Nothing is signalled that is not there any more.
    read: () => null,
    argv: () => [],
    scan: () => {
      looks += 1;
      nowMs += lookMs;
      return living;
    },
    complete: true,
  };
  const isProtected = (pid: number): boolean => protectedPids.has(pid);
  return createSessionEnder({ processes, monotonicMs: () => nowMs, isProtected });
}

beforeEach(() => {
  vi.useFakeTimers();
  [lookMs, nowMs, living, looks, protectedPids] = [100, 0, [], 0, new Set()];
});
afterEach(() => {
  vi.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  for (const end = nowMs + ms; nowMs < end;) {
    nowMs += 5;
    await vi.advanceTimersByTimeAsync(5);
  }
}

test('a thousand attempts that end at times of their own share the looks, which leave most of the time to others', async () => {
  const ender = enderOf();
  living = Array.from({ length: 1000 }, (_, index) => processOf(100_000 + index));
  let ended = 0;
  for (const { pid } of living) {
    const plan = {
      signal: 'SIGTERM',
      deadlineMs: () => Number.POSITIVE_INFINITY,
      supervisorGone: () => true,
      onSignal: () => undefined,
      onStuck: () => undefined,
    };
    void ender.end(targetOf(pid), plan).then(() => (ended += 1));
    await pass(5);
  }
  // 5 s of their beginnings, and of each look 400 ms with the rest after it.
  expect(looks).toBeGreaterThan(5);
  expect(looks).toBeLessThan(nowMs / (3.5 * lookMs));
  living = [];
  await pass(2000);
  expect(ended).toBe(1000);
});

test('a lone question is answered at once, by a look that comes after it', async () => {
  const ender = enderOf();
  const asked = ender.members(targetOf(7));
  living = [processOf(7)];
  await vi.advanceTimersByTimeAsync(0);
  expect((await asked).map(({ pid }) => pid)).toEqual([7]);
  expect(looks).toBe(1);
});

test('a look that took very long holds up the next no longer than a second', async () => {
  const ender = enderOf();
  lookMs = 60_000;
  const first = ender.members(targetOf(7));
  await vi.advanceTimersByTimeAsync(0);
  await first;
  const next = ender.members(targetOf(7));
  await vi.advanceTimersByTimeAsync(999);
  expect(looks).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(looks).toBe(2);
  await next;
});

test('what an attempt has: by environment, session, group, and whatever these have started', async () => {
  const ender = enderOf();
  living = [
    processOf(7),
    processOf(8, { sessionId: 7, groupId: 8 }),
    processOf(9, { sessionId: 90, groupId: 7 }),
    processOf(10, { attemptUid: 'uid-7' }),
    // Without its environment, in a session of its own.
    processOf(11, { parentPid: 10 }),
    processOf(12, { parentPid: 11 }),
    processOf(20, { attemptUid: 'uid-20' }),
    processOf(21, { parentPid: 20 }),
    processOf(22),
  ];
  const pids = async (target: EndTarget) => {
    const asked = ender.members(target);
    await pass(1000);
    return (await asked).map(({ pid }) => pid).sort((left, right) => left - right);
  };
  expect(await pids(targetOf(7))).toEqual([7, 8, 9, 10, 11, 12]);
  // Its session's number may be another's by now.
  expect(await pids(targetOf(7, { sessionKnown: false }))).toEqual([10, 11, 12]);
  expect(await pids(targetOf(7, { supervisorStartTicks: 3 }))).toEqual([10, 11, 12]);
  // A host that a task has started: neither it nor what it has started itself.
  protectedPids.add(11);
  expect(await pids(targetOf(7))).toEqual([7, 8, 9, 10]);
});

test('that a signal was sent is said at once after it, and of a host that comes after another nobody gets it again', async () => {
  const steps: string[] = [];
  const [mine, child] = [processOf(2 ** 22 + 7), processOf(2 ** 22 + 8, { sessionId: 2 ** 22 + 7 })];
  living = [mine, child];
  const kill = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    steps.push(`${signal} ${pid - 2 ** 22}`);
    return true;
  });
  const ender = createSessionEnder({
    processes: {
      bootId: () => 'boot',
      read: (pid) => living.find((each) => each.pid === pid) ?? null,
      argv: () => [],
      scan: () => living,
      complete: true,
    },
    monotonicMs: () => nowMs,
    isProtected: () => false,
  });
  const plan = {
    signal: 'SIGTERM',
    deadlineMs: () => 60_000,
    supervisorGone: () => living.length === 0,
    onSignal: () => undefined,
    onTold: () => steps.push('told'),
    onStuck: () => undefined,
  };
  const first = ender.end(targetOf(mine.pid), plan);
  await pass(1000);
  expect(steps).toEqual(['SIGTERM 7', 'SIGTERM 8', 'told']);
  living = [];
  await pass(1000);
  await first;
  steps.length = 0;
  living = [mine, child];
  const second = ender.end(targetOf(mine.pid), { ...plan, sentBefore: true });
  await pass(1000);
  expect(steps).toEqual(['told']);
  living = [];
  await pass(1000);
  await second;
  // A host that is closed leaves the rest to the next.
  living = [mine, child];
  void ender.end(targetOf(mine.pid), plan);
  ender.close();
  await pass(120_000);
  expect(steps).toEqual(['told']);
  kill.mockRestore();
});
