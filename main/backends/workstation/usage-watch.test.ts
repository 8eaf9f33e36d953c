import { spawn, type ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { plainGpu, type GpuView } from '../../../core/contract/gpus.js';
import { launchOf } from '../../../test/harness/backend-probe.js';
import { newEntry, type AttemptEntry } from './process/attempt-entry.js';
import { parseUsage, usageOfSessions } from './process-usage.js';
import { UsageWatch } from './usage-watch.js';

let nowMs: number;
let told: AttemptEntry[];
let watch: UsageWatch;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 0;
  told = [];
  watch = new UsageWatch({ monotonicMs: () => nowMs, tell: (entry) => told.push(entry) });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

function entryOn(...devices: string[]): AttemptEntry {
  const launch = launchOf({ command: ['true'] }, { devices });
  const entry = newEntry(launch.uid, '/nowhere', launch);
  entry.phase = 'running';
  return entry;
}

function card(uuid: string, more: Partial<GpuView>): GpuView {
  return {
    ...plainGpu,
    processes: [],
    claimedBy: [],
    uuid,
    index: 0,
    name: 'H100',
    variant: 'h100',
    ...more,
  };
}

async function pass(ms: number): Promise<void> {
  nowMs += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

test('of a card it shares an attempt is told the memory of its own processes alone', () => {
  const launch = launchOf(
    { command: ['true'], gpu: 1, shareGpu: true, gpuMemory: '8GB' },
    { devices: ['GPU-1'] },
  );
  const entry = newEntry(launch.uid, '/nowhere', launch);
  entry.phase = 'running';
  watch.add(entry);
  const process = { pid: 7, user: null, name: 'python', computes: true };
  const look = (own: number | null) =>
    watch.look([
      card('GPU-1', {
        utilizationPercent: 90,
        powerWatts: 300,
        memoryUsedBytes: 5000,
        processes: [
          { ...process, usedBytes: own, attemptUid: entry.uid },
          { ...process, usedBytes: 4000, attemptUid: 'another' },
        ],
      }),
    ]);
  look(700);
  nowMs += 2000;
  look(1000);
  nowMs += 2000;
  look(null);
  watch.conclude(entry);
  expect(entry.usage).toMatchObject({ gpuMemoryBytes: 1000, gpuPercent: null, energyJoules: null });
});

test('what was used before a restart of ours counts, and the time in between is not guessed', () => {
  const entry = entryOn('GPU-1');
  const usage = {
    cpuSeconds: 500,
    memoryBytes: 9000,
    diskReadBytes: 40,
    diskWrittenBytes: 50,
    gpuPercent: 80,
    gpuMemoryBytes: 7000,
    energyJoules: 1_000_000,
    devicesUsed: ['GPU-1', 'GPU-9'],
  };
  const launch = entry.launch === null ? null : { ...entry.launch, usedBefore: { usage, forMs: 30_000 } };
  const adopted = { ...newEntry(entry.uid, '/nowhere', launch), phase: 'running' as const };
  watch.add(adopted);
  const look = (): void =>
    watch.look([card('GPU-1', { utilizationPercent: 20, powerWatts: 100, memoryUsedBytes: 5000 })]);
  look();
  nowMs += 10_000;
  look();
  watch.conclude(adopted);
  expect(adopted.usage).toEqual({
    cpuSeconds: 500,
    memoryBytes: null,
    diskReadBytes: 40,
    diskWrittenBytes: 50,
    gpuPercent: 65,
    gpuMemoryBytes: 7000,
    energyJoules: 1_001_000,
    devicesUsed: ['GPU-1', 'GPU-9'],
  });
});

test('energy is what the cards drew over time, use the mean over cards and time, memory the most there was', () => {
  const entry = entryOn('GPU-1', 'GPU-2');
  watch.add(entry);
  const look = (percent: number, watts: number | null, memory: number) =>
    watch.look([
      card('GPU-1', { utilizationPercent: percent, powerWatts: watts, memoryUsedBytes: memory }),
      card('GPU-2', { utilizationPercent: 0, powerWatts: watts, memoryUsedBytes: 10 }),
      card('GPU-3', { utilizationPercent: 100, powerWatts: 1000, memoryUsedBytes: 9999 }),
    ]);
  look(0, 100, 5);
  nowMs += 2000;
  look(100, 100, 90);
  nowMs += 2000;
  // A gap in power is no power, and no reason to forget the rest.
  look(50, null, 20);
  watch.conclude(entry);
  expect(entry.usage).toMatchObject({ energyJoules: 400, gpuPercent: 37.5, gpuMemoryBytes: 100 });
});

test('what was drawn while nobody looked is not guessed', () => {
  const entry = entryOn('GPU-1');
  watch.add(entry);
  watch.look([card('GPU-1', { powerWatts: 100 })]);
  nowMs += 3_600_000;
  watch.look([card('GPU-1', { powerWatts: 100 })]);
  nowMs += 1000;
  watch.look([card('GPU-1', { powerWatts: 100 })]);
  watch.conclude(entry);
  expect(entry.usage?.energyJoules).toBe(100);
});

test('cards that its processes compute on are told, given or not', () => {
  const entry = entryOn('GPU-1');
  watch.add(entry);
  const process = { pid: 1, user: null, name: 'p', usedBytes: null, attemptUid: entry.uid };
  watch.look([
    card('GPU-1', {}),
    card('GPU-2', { processes: [{ ...process, computes: true }] }),
    card('GPU-3', { processes: [{ ...process, computes: false }] }),
    card('GPU-4', { processes: [{ ...process, computes: true, attemptUid: 'other' }] }),
  ]);
  watch.conclude(entry);
  expect(entry.usage?.devicesUsed).toEqual(['GPU-2']);
});

test('told once a minute while it runs, and not once it ends', async () => {
  const entry = entryOn('GPU-1');
  watch.add(entry);
  await pass(50_000);
  expect(told).toEqual([]);
  await pass(10_000);
  expect(told).toEqual([entry]);
  await pass(60_000);
  expect(told).toHaveLength(2);
  entry.phase = 'ending';
  await pass(120_000);
  expect(told).toHaveLength(2);
});

test('one that was never measured has no usage', () => {
  const entry = entryOn();
  watch.conclude(entry);
  expect(entry.usage).toBeNull();
});

test('times and memory of a session, whatever a process is called', () => {
  const line = (name: string) => `7 (${name}) S 1 7 5 0 -1 0 0 0 0 0 100 50 25 25 20 0 1 0 999 0 300 0 0`;
  expect(parseUsage(line('a) b (c'))).toEqual({
    parent: 1,
    session: 5,
    cpuSeconds: 2,
    memoryBytes: 300 * 4096,
  });
  expect(parseUsage('')).toBeNull();
});

test('real processes of a session together', async () => {
  vi.useRealTimers();
  const child: ChildProcess = spawn('sh', ['-c', 'sleep 300 & echo ready; wait'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const pid = child.pid ?? 0;
    const usage = usageOfSessions(new Set([pid])).get(pid);
    expect(usage?.memoryBytes).toBeGreaterThan(100_000);
    expect(usage?.cpuSeconds).toBeLessThan(5);
    expect(usageOfSessions(new Set()).size).toBe(0);
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  }
});

test('of a container keeps what it had used when its last sample says nothing but zeros', () => {
  const entry = entryOn();
  watch.take(entry, { cpuSeconds: 3, memoryBytes: 1000, readBytes: 50, writtenBytes: 70 });
  watch.take(entry, { cpuSeconds: 0, memoryBytes: null, readBytes: 0, writtenBytes: null });
  watch.conclude(entry);
  expect(entry.usage).toMatchObject({
    cpuSeconds: 3,
    memoryBytes: 1000,
    diskReadBytes: 50,
    diskWrittenBytes: 70,
  });
  entry.phase = 'ended';
  watch.remove(entry.uid);
  watch.take(entry, { cpuSeconds: 9, memoryBytes: 1, readBytes: 99, writtenBytes: 99 });
  watch.conclude(entry);
  expect(entry.usage).toMatchObject({ cpuSeconds: 3 });
});
