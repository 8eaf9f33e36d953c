import { expect, test } from 'vitest';
import { report } from '../../core/model/test-world.js';
import { ReportQueue } from './report-queue.js';

const uid = (index: number) => index.toString(16).padStart(16, '0');
const warning = (message: string) => ({ code: 'MEMORY_NEAR_LIMIT' as const, message });
const cut = { code: 'LOG_ENGINE_RESTARTED' as const, message: 'cut' };

test('few are taken as they came', () => {
  const queue = new ReportQueue();
  const all = [report(uid(1), 'RUNNING'), report(uid(1), 'RUNNING', { pid: 4 }), report(uid(2), 'FAILED')];
  for (const each of all) queue.add([each]);
  expect(queue.size).toBe(3);
  expect(queue.take()).toEqual(all);
  expect(queue.size).toBe(0);
});

test('while nothing is taken for days, what is kept goes with the attempts, not with the time', () => {
  const queue = new ReportQueue(100);
  for (let minute = 0; minute < 4000; minute += 1)
    queue.add(
      Array.from({ length: 10 }, (_, index) => report(uid(index), 'RUNNING', { checkpointAtMs: minute })),
    );
  expect(queue.size).toBeLessThanOrEqual(110);
  const latest = new Map(queue.take().map((each) => [each.uid, each.checkpointAtMs]));
  expect([...latest.values()]).toEqual(Array(10).fill(3999));
});

test('what reports of an attempt say together is kept: its start, what was noticed of it, what it used, its end', () => {
  const queue = new ReportQueue(3);
  const usage = {
    cpuSeconds: 1,
    memoryBytes: 2,
    diskReadBytes: null,
    diskWrittenBytes: null,
    gpuPercent: null,
    gpuMemoryBytes: null,
    energyJoules: null,
    devicesUsed: [],
  };
  const end = report(uid(1), 'FAILED', { exitCode: 3 });
  queue.add([
    report(uid(1), 'RUNNING', {
      startedAtMs: 5,
      pid: 7,
      checkpointAtMs: 9,
      warnings: [warning('90 %'), cut],
      usage,
    }),
    report(uid(1), 'BUILDING', { startedAtMs: 6, warnings: [warning('95 %')] }),
    end,
    report(uid(1), 'FAILED', { exitCode: 4 }),
    report(uid(1), 'RUNNING'),
  ]);
  expect(queue.take()).toEqual([
    report(uid(1), 'RUNNING', {
      startedAtMs: 5,
      pid: 7,
      checkpointAtMs: 9,
      warnings: [cut, warning('95 %')],
      usage,
    }),
    end,
  ]);
});

test('those given back come before those that came since', () => {
  const queue = new ReportQueue();
  queue.add([report(uid(1), 'RUNNING')]);
  const taken = queue.take();
  queue.add([report(uid(1), 'FAILED')]);
  queue.giveBack(taken);
  expect(queue.take().map(({ state }) => state)).toEqual(['RUNNING', 'FAILED']);
});
