/** What every backend must do, whatever runs its attempts. Called with a way to make one. */
import { rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { AttemptLaunch } from '../../main/backends/backend.js';
import { type BackendProbe, launchOf as plainLaunch, mintUid, specOf } from '../harness/backend-probe.js';

export interface ConformanceSubject {
  readonly probe: BackendProbe;
  /** The same attempts seen by a new backend, the old one closed. */
  reopen(): Promise<BackendProbe>;
  dispose(): Promise<void>;
  /** Of a command on this backend; plain unless given. */
  launchOf?(request: Partial<JobRequest> & { command: string[] }): AttemptLaunch;
  /** What it asks of its caller about stops. */
  readonly container?: boolean;
  /** A folder that its commands see as we do; the system's temporary one unless given. */
  readonly shared?: string;
  /** How many commands it is given at once; 50 unless given. */
  readonly many?: number;
}

export function backendConformance(name: string, make: () => Promise<ConformanceSubject>): void {
  describe(`${name} as a backend`, () => {
    let subject: ConformanceSubject;
    let probe: BackendProbe;
    /** What `untilOpen` waits for: a command that ends after a time may have ended before anybody looked. */
    let gate: string;
    const untilOpen = 'until test -e "$GATE"; do sleep 0.05; done';
    const open = () => writeFileSync(gate, '');
    const launchOf: typeof plainLaunch = (request) => (subject.launchOf ?? plainLaunch)(request);
    const stop = (on: BackendProbe, uid: string, more: Parameters<BackendProbe['stop']>[1] = {}) =>
      on.stop(uid, { container: subject.container ?? false, ...more });
    beforeEach(async () => {
      subject = await make();
      probe = subject.probe;
      gate = path.join(subject.shared ?? os.tmpdir(), `iris-gate-${mintUid()}`);
    });
    afterEach(async () => {
      await subject.dispose();
      rmSync(gate, { force: true });
    });

    test('describes itself and its workers', () => {
      expect(probe.backend.describe().capabilities).toContain('logs');
      const [worker] = probe.backend.observe();
      expect(worker?.state).toBe('HEALTHY');
      expect(worker?.cpuMillicores).toBeGreaterThan(0);
      expect(worker?.memoryBytes).toBeGreaterThan(0);
    });

    test('runs a command to its end and keeps both streams apart', async () => {
      const launch = launchOf({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
      probe.run(launch);
      expect(await probe.over(launch.uid)).toMatchObject({
        state: 'FAILED',
        exitCode: 3,
        signal: null,
        cause: { code: 'EXIT_CODE' },
      });
      expect(await probe.text(launch.uid, 'out')).toBe('out\n');
      expect(await probe.text(launch.uid, 'err')).toBe('err\n');
    });

    test('a success has a start, an end, a duration and no cause', async () => {
      const launch = launchOf({ command: ['true'] });
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, cause: null, signal: null });
      expect(end.startedAtMs).not.toBeNull();
      expect(end.finishedAtMs).toBeGreaterThanOrEqual(end.startedAtMs ?? Number.POSITIVE_INFINITY);
      expect(end.durationMs).toBeGreaterThanOrEqual(0);
    });

    test('starts an attempt once however often it is asked for', async () => {
      const launch = launchOf({ command: ['sh', '-c', 'echo once; sleep 0.3'] });
      for (let again = 0; again < 5; again += 1) probe.run(launch);
      await probe.over(launch.uid);
      probe.run(launch);
      probe.reconcile();
      expect(await probe.text(launch.uid)).toBe('once\n');
    });

    test('stops an attempt and reports it only when it is gone', async () => {
      const launch = launchOf({ command: ['sleep', '300'] });
      probe.run(launch);
      await probe.state(launch.uid, 'RUNNING');
      stop(probe, launch.uid);
      expect(await probe.over(launch.uid)).toMatchObject({
        state: 'KILLED',
        cause: { code: 'STOPPED_BY_USER' },
      });
    });

    test('a stop that follows at once never leaves anything running', async () => {
      const uids = Array.from({ length: 8 }, () => launchOf({ command: ['sleep', '300'] }));
      for (const launch of uids) {
        probe.run(launch);
        stop(probe, launch.uid);
      }
      for (const launch of uids) expect((await probe.over(launch.uid)).state).toMatch(/^(KILLED|MISSING)$/);
    });

    test('reports an attempt it knows nothing of as missing', async () => {
      const launch = launchOf({ command: ['true'] });
      probe.want({ kind: 'keep', uid: launch.uid, launch });
      expect((await probe.over(launch.uid)).state).toBe('MISSING');
      const unknown = mintUid();
      stop(probe, unknown);
      expect((await probe.over(unknown)).state).toBe('MISSING');
    });

    test('a notice lies in its working folder before the signal comes', async () => {
      const script = [
        'trap \'cat "$IRIS_WORKDIR/preemption.json"; : >"$IRIS_CHECKPOINT_FILE"; exit 9\' USR1',
        'echo ready',
        'while :; do sleep 0.05; done',
      ].join('\n');
      const launch = launchOf({ command: ['sh', '-c', script] });
      probe.backend.watchLog(launch.uid, true);
      probe.run(launch);
      await probe.until(() => probe.grew.some(({ uid, out }) => uid === launch.uid && out > 0));
      const askedAtMs = Date.now();
      const deadlineMs = askedAtMs + 30_000;
      const notice = { reason: 'A production job needs "GPUs".', deadlineMs };
      stop(probe, launch.uid, { reason: 'preempted', signal: 'SIGUSR1', graceMs: 30_000, notice });
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({ state: 'KILLED', exitCode: 9 });
      const [ready, told = ''] = (await probe.text(launch.uid)).split('\n');
      expect(ready).toBe('ready');
      expect(JSON.parse(told)).toEqual({
        deadline: new Date(deadlineMs).toISOString(),
        reason: notice.reason,
      });
      // What it saved in its last moments counts. File systems keep times a little coarser than the clock.
      expect(end.checkpointAtMs).toBeGreaterThanOrEqual(askedAtMs - 100);
      expect(end.checkpointAtMs).toBeLessThanOrEqual(Date.now());
    });

    test('tells of checkpoints while it runs, and of none that never was', async () => {
      const begun = Date.now();
      // The pause keeps the two times apart, however coarse the file system's are.
      const script = [
        'touch "$IRIS_CHECKPOINT_FILE"; sleep 0.1',
        untilOpen,
        'touch "$IRIS_CHECKPOINT_FILE"; exec sleep 300',
      ].join('\n');
      const launch = launchOf({ command: ['sh', '-c', script], environment: { GATE: gate } });
      const without = launchOf({ command: ['sleep', '300'] });
      probe.want({ kind: 'run', launch }, { kind: 'run', launch: without });
      const told = () => [
        ...new Set(
          probe.reports.flatMap(({ uid, checkpointAtMs }) =>
            uid === launch.uid && typeof checkpointAtMs === 'number' ? [checkpointAtMs] : [],
          ),
        ),
      ];
      await probe.until(() => told().length === 1);
      open();
      await probe.until(() => told().length === 2);
      const [first = 0, second = 0] = told();
      expect(first).toBeGreaterThanOrEqual(begun - 100);
      expect(second).toBeGreaterThan(first);
      expect(second).toBeLessThanOrEqual(Date.now());
      expect(probe.last(launch.uid)?.state).toBe('RUNNING');
      expect(probe.last(without.uid)?.checkpointAtMs ?? null).toBeNull();
    });

    test('an attempt that is no longer wanted is ended', async () => {
      const launch = launchOf({ command: ['sleep', '300'] });
      probe.run(launch);
      await probe.state(launch.uid, 'RUNNING');
      probe.backend.reconcile([]);
      expect((await probe.over(launch.uid)).state).toBe('KILLED');
    });

    test('a new backend adopts what runs and tells its true end', async () => {
      const script = `echo before; ${untilOpen}; echo after; exit 5`;
      const slow = launchOf({ command: ['sh', '-c', script], environment: { GATE: gate } });
      probe.run(slow);
      await probe.state(slow.uid, 'RUNNING');
      const next = await subject.reopen();
      next.want({ kind: 'keep', uid: slow.uid, launch: slow });
      open();
      expect(await next.over(slow.uid)).toMatchObject({ state: 'FAILED', exitCode: 5 });
      expect(await next.text(slow.uid)).toBe('before\nafter\n');
    });

    test('an attempt that may have been started is not started again by a new backend', async () => {
      const script = `echo once; ${untilOpen}`;
      const launch = launchOf({ command: ['sh', '-c', script], environment: { GATE: gate } });
      probe.run(launch);
      await probe.state(launch.uid, 'RUNNING');
      const next = await subject.reopen();
      next.run(launch);
      open();
      expect((await next.over(launch.uid)).state).toBe('SUCCEEDED');
      expect(await next.text(launch.uid)).toBe('once\n');
    });

    test('a new backend stops what an old one started', async () => {
      const launch = launchOf({ command: ['sleep', '300'] });
      probe.run(launch);
      await probe.state(launch.uid, 'RUNNING');
      const next = await subject.reopen();
      stop(next, launch.uid);
      expect((await next.over(launch.uid)).state).toBe('KILLED');
    });

    test('says again what the controller still asks about', async () => {
      const launch = launchOf({ command: ['true'] });
      probe.run(launch);
      await probe.over(launch.uid);
      const before = probe.reports.length;
      await new Promise((resolve) => setTimeout(resolve, 1100));
      probe.backend.reconcile([{ kind: 'run', launch }]);
      await probe.until(() => probe.reports.length > before);
      expect(probe.last(launch.uid)?.state).toBe('SUCCEEDED');
    });

    test('reads ranges of a log, and nothing of a log that is not there', async () => {
      const launch = launchOf({ command: ['printf', '0123456789'] });
      probe.run(launch);
      await probe.over(launch.uid);
      const range = await probe.backend.readLog(launch.uid, 'out', 3, 4);
      expect(Buffer.from(range.data).toString()).toBe('3456');
      expect(range.size).toBe(10);
      expect(await probe.backend.readLog(launch.uid, 'out', 10, 4)).toMatchObject({ size: 10 });
      expect((await probe.backend.readLog(mintUid(), 'out', 0, 4)).size).toBe(0);
    });

    test('tells of growth while somebody watches', async () => {
      const script = `echo 1; echo 2; ${untilOpen}; echo 3`;
      const launch = launchOf({ command: ['sh', '-c', script], environment: { GATE: gate } });
      probe.backend.watchLog(launch.uid, true);
      probe.run(launch);
      await probe.until(() => probe.grew.some(({ uid, out }) => uid === launch.uid && out === 4));
      open();
      await probe.over(launch.uid);
    });

    test('knows what could never run', () => {
      const { backend } = probe;
      expect(backend.feasible(specOf({ command: ['true'] }))).toBeNull();
      expect(backend.feasible(specOf({ command: ['true'], cpu: 99_999 }))).toContain('99999');
      expect(backend.feasible(specOf({ command: ['true'], gpu: 'nosuchcard' }))).toContain('gpu');
    });

    test('many short commands at once all reach their own exit code', async () => {
      const launches = Array.from({ length: subject.many ?? 50 }, (_, index) =>
        launchOf({ command: ['sh', '-c', `exit ${index}`] }),
      );
      probe.want(...launches.map((launch) => ({ kind: 'run' as const, launch })));
      for (const [index, launch] of launches.entries()) {
        expect((await probe.over(launch.uid)).exitCode).toBe(index);
      }
    });
  });
}
