import { expect, test } from 'vitest';
import { engineLimits, limitsWarning } from './engine-limits.js';

/** As Docker 20.10 answers: rootless on cgroup v1, and as root on the same machine. */
const rootless = { MemoryLimit: false, CpuCfsQuota: false, PidsLimit: false, CgroupDriver: 'none' };
const usual = { MemoryLimit: true, CpuCfsQuota: true, PidsLimit: true, CgroupDriver: 'cgroupfs' };

test('an Engine with control groups holds containers to all they ask for', () => {
  expect(engineLimits(usual)).toEqual({ groups: true, memory: true, cpu: true, pids: true });
  expect(limitsWarning(engineLimits(usual), true)).toBeNull();
});

test('one without any says what is measured instead and what is not held', () => {
  const limits = engineLimits(rootless);
  expect(limits).toEqual({ groups: false, memory: false, cpu: false, pids: false });
  expect(limitsWarning(limits, true)).toBe(
    'This Engine runs without control groups, as rootless Docker does on a system with cgroup v1; a system with cgroup v2 has them. Containers are not held to the processors and number of processes they ask for: these count for placing only. Memory is measured every 2 s, and a container above its limit is ended.',
  );
  expect(limitsWarning(limits, false)).toContain(
    'not held to the memory, processors and number of processes',
  );
});

test('a single missing controller is named alone', () => {
  const limits = engineLimits({ ...usual, PidsLimit: false });
  expect(limitsWarning(limits, true)).toBe(
    'The kernel of this Engine lacks some control groups. Containers are not held to the number of processes they ask for: these count for placing only.',
  );
});

test.each([null, {}, { MemoryLimit: 'yes' }, { CgroupDriver: 7 }])('%j says nothing against it', (info) => {
  expect(engineLimits(info)).toEqual({ groups: true, memory: true, cpu: true, pids: true });
});
