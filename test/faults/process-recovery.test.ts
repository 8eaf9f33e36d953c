/** The parts around a command die, and time plays tricks: attempts go on, end once, and nothing is believed that is not proved. */
import { readFileSync, writeFileSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noGroups } from '../../main/backends/workstation/process/control-groups.js';
import { createProcessView, readProcess, type ProcessView } from '../../main/machine/processes.js';
import { launchOf, mintUid, type BackendProbe } from '../harness/backend-probe.js';
import {
  eventually,
  launcherKinds,
  launcherOf,
  livingOf,
  ownLaunchers,
  processBackends,
  type ProcessBackends,
} from '../harness/process-backend.js';

let backends: ProcessBackends;
let probe: BackendProbe;

beforeEach(async () => {
  backends = await processBackends();
  probe = await backends.open();
});
afterEach(() => backends.dispose());

function supervisorOf(uid: string): number {
  const text = readFileSync(path.join(backends.folder, uid, 'claim'), 'latin1');
  return Number(/^(\d+) \(/m.exec(text)?.[1]);
}

function fillClaim(uid: string, bootId: string, stat: string): void {
  const folder = path.join(backends.folder, uid);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'claim'), `${''.padEnd(95)}\n${bootId}\n${stat}\n`);
}

describe.each(launcherKinds)('the launcher is killed (%s)', (kind) => {
  beforeEach(async () => {
    await probe.backend.close();
    probe = await backends.open({ launchers: [await launcherOf(kind)] });
  });

  test('running attempts go on and their true ends are told', async () => {
    const gate = path.join(backends.folder, 'gate');
    const launches = [0, 3, 9].map((code) =>
      launchOf({
        command: ['sh', '-c', `until test -e ${gate}; do sleep 0.05; done; echo done; exit ${code}`],
      }),
    );
    probe.want(...launches.map((launch) => ({ kind: 'run' as const, launch })));
    for (const launch of launches) await probe.state(launch.uid, 'RUNNING');
    const [launcher] = ownLaunchers();
    process.kill(launcher ?? 0, 'SIGKILL');
    writeFileSync(gate, '');
    for (const [index, launch] of launches.entries()) {
      expect((await probe.over(launch.uid)).exitCode).toBe([0, 3, 9][index]);
      expect(await probe.text(launch.uid)).toBe('done\n');
    }
  });

  test('at many moments: every attempt ends once with its own code', async () => {
    const launches = Array.from({ length: 40 }, (_, index) =>
      launchOf({ command: ['sh', '-c', `echo run; sleep 0.${index % 4}; exit ${index}`] }),
    );
    for (const [index, launch] of launches.entries()) {
      probe.run(launch);
      if (index % 8 === 7) {
        const [launcher] = ownLaunchers();
        if (launcher !== undefined) process.kill(launcher, 'SIGKILL');
        await eventually(() => ownLaunchers().some((pid) => pid !== launcher), 'a new launcher');
      }
    }
    for (const [index, launch] of launches.entries()) {
      expect((await probe.over(launch.uid)).exitCode).toBe(index);
      expect(await probe.text(launch.uid)).toBe('run\n');
    }
  });
});

describe('the supervisor is killed', () => {
  test('the attempt is a loss of the machine, and the rest of its session goes', async () => {
    const launch = launchOf({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await eventually(() => livingOf(backends.folder).length === 2, 'the command runs');
    process.kill(supervisorOf(launch.uid), 'SIGKILL');
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      exitCode: null,
      cause: { code: 'SUPERVISOR_LOST' },
    });
    expect(livingOf(backends.folder)).toEqual([]);
  });

  test('while no backend lives: the next one says so', async () => {
    const launch = launchOf({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await eventually(() => livingOf(backends.folder).length === 2, 'the command runs');
    await probe.backend.close();
    process.kill(supervisorOf(launch.uid), 'SIGKILL');
    const next = await backends.open();
    next.want({ kind: 'keep', uid: launch.uid, launch });
    expect(await next.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'SUPERVISOR_LOST' },
    });
    expect(livingOf(backends.folder)).toEqual([]);
  });
});

describe("what stands in an attempt's folder cannot be read for a while", () => {
  /** As on a disk that fails for a moment; gives it back. */
  function unreadable(uid: string): () => void {
    const claim = path.join(backends.folder, uid, 'claim');
    renameSync(claim, `${claim}.kept`);
    mkdirSync(claim);
    return () => {
      rmdirSync(claim);
      renameSync(`${claim}.kept`, claim);
    };
  }
  const looked = () => backends.warnings.filter((text) => text.includes('could not be looked at')).length;
  const gated = () => {
    const gate = path.join(backends.folder, 'gate');
    const script = `until test -e ${gate}; do sleep 0.05; done; exit 6`;
    return { launch: launchOf({ command: ['sh', '-c', script] }), open: () => writeFileSync(gate, '') };
  };

  test('while it was started by another host: it is looked at again, and its end is told', async () => {
    const { launch, open } = gated();
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await probe.backend.close();
    const next = await backends.open();
    next.want({ kind: 'keep', uid: launch.uid, launch });
    await next.state(launch.uid, 'RUNNING');
    const giveBack = unreadable(launch.uid);
    await eventually(() => looked() > 0, 'it is looked at');
    giveBack();
    open();
    expect(await next.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 6 });
  });

  test('while the launcher dies: it is looked at again, and its end is told', async () => {
    const { launch, open } = gated();
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    const giveBack = unreadable(launch.uid);
    const [launcher] = ownLaunchers();
    process.kill(launcher ?? 0, 'SIGKILL');
    await eventually(() => looked() > 0, 'it is looked at');
    giveBack();
    open();
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 6 });
  });
});

describe('nobody looks on', () => {
  test('an end while no backend lives is found, with its times', async () => {
    const gate = path.join(backends.folder, 'gate');
    const script = `until test -e ${gate}; do sleep 0.05; done; sleep 0.5; exit 4`;
    const launch = launchOf({ command: ['sh', '-c', script] });
    const begun = performance.now();
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await probe.backend.close();
    writeFileSync(gate, '');
    await eventually(() => livingOf(backends.folder).length === 0, 'the command ends');
    const took = performance.now() - begun;
    const next = await backends.open();
    next.want({ kind: 'keep', uid: launch.uid, launch });
    const end = await next.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', exitCode: 4 });
    expect(end.durationMs).toBeGreaterThanOrEqual(450);
    expect(end.durationMs).toBeLessThan(took + 100);
  });

  test('the time limit is kept by the supervisor alone, against what ignores it', async () => {
    const launch = launchOf({
      command: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'],
      timeout: 0.6,
      grace: 0.3,
    });
    probe.run(launch);
    // That it runs, or that the limit has struck already.
    await probe.until(() => probe.last(launch.uid) !== undefined);
    await probe.backend.close();
    await eventually(() => livingOf(backends.folder).length === 0, 'the limit strikes');
    const next = await backends.open();
    next.want({ kind: 'keep', uid: launch.uid, launch });
    expect(await next.over(launch.uid)).toMatchObject({ state: 'FAILED', cause: { code: 'TIME_LIMIT' } });
  });

  test('a live attempt the controller does not know is ended', async () => {
    const launch = launchOf({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await probe.backend.close();
    const next = await backends.open();
    next.reconcile();
    await eventually(() => livingOf(backends.folder).length === 0, 'the stray ends');
    expect(backends.warnings.join('\n')).toContain('not wanted');
  });

  test('a live attempt that is asked about no more ends by the signal its job wants', async () => {
    const told = path.join(backends.folder, 'told');
    const script = `trap 'echo INT > ${told}; exit' INT; trap 'echo TERM > ${told}; exit' TERM; while :; do sleep 0.05; done`;
    const launch = launchOf({ command: ['sh', '-c', script], stopSignal: 'SIGINT' });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    probe.unwant(launch.uid);
    await eventually(() => livingOf(backends.folder).length === 0, 'it ends');
    expect(readFileSync(told, 'utf8')).toBe('INT\n');
  });
});

describe('a pid is no proof', () => {
  const lineOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').trim();
  /** This test's own pid with another start time. */
  function startedBefore(): string {
    const own = lineOf(process.pid);
    const fields = own.slice(own.lastIndexOf(')') + 2).split(' ');
    fields[19] = '1';
    return `${process.pid} (sh) ${fields.join(' ')}`;
  }

  test.each([
    ['with a start time of its own', startedBefore],
    ['that is no supervisor by its arguments', () => `${process.pid} (sh)`],
  ])(
    'another process with the same pid, %s, is neither taken for the attempt nor touched',
    async (_, self) => {
      const uid = mintUid();
      fillClaim(uid, createProcessView().bootId() ?? '', self());
      const launch = launchOf({ command: ['true'] }, { uid });
      probe.want({ kind: 'keep', uid, launch });
      expect(await probe.over(uid)).toMatchObject({
        state: 'WORKER_FAILED',
        cause: { code: 'SUPERVISOR_LOST' },
      });
      expect(readProcess(process.pid)).not.toBeNull();
    },
  );

  test('the supervisor of another attempt is not taken for it either', async () => {
    const other = launchOf({ command: ['sleep', '600'] });
    probe.run(other);
    const { pid } = await probe.state(other.uid, 'RUNNING');
    const uid = mintUid();
    fillClaim(uid, createProcessView().bootId() ?? '', `${pid} (sh)`);
    probe.want({ kind: 'keep', uid, launch: launchOf({ command: ['true'] }, { uid }) });
    expect(await probe.over(uid)).toMatchObject({ cause: { code: 'SUPERVISOR_LOST' } });
    expect(livingOf(backends.folder)).toContain(pid);
  });

  test('a supervisor whose claim has its start time is adopted by that', async () => {
    const launch = launchOf({ command: ['sleep', '600'] });
    probe.run(launch);
    const { pid } = await probe.state(launch.uid, 'RUNNING');
    await probe.backend.close();
    fillClaim(launch.uid, createProcessView().bootId() ?? '', lineOf(pid ?? 0));
    const next = await backends.open();
    next.want({ kind: 'keep', uid: launch.uid, launch });
    expect(await next.state(launch.uid, 'RUNNING')).toMatchObject({ pid });
  });

  test('after a reboot everything that had not ended is lost, whatever has its pids now', async () => {
    const uid = mintUid();
    fillClaim(uid, '00000000-0000-0000-0000-000000000000', readFileSync('/proc/self/stat', 'latin1').trim());
    const launch = launchOf({ command: ['true'] }, { uid });
    probe.want({ kind: 'keep', uid, launch });
    expect(await probe.over(uid)).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'REBOOTED' } });
  });

  test('what had ended before the reboot keeps its end', async () => {
    const launch = launchOf({ command: ['sh', '-c', 'exit 6'] });
    probe.run(launch);
    await probe.over(launch.uid);
    await probe.backend.close();
    const real = createProcessView();
    const processes: ProcessView = { ...real, bootId: () => 'another boot' };
    const next = await backends.open({ processes });
    next.want({ kind: 'keep', uid: launch.uid, launch });
    expect(await next.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 6 });
  });

  test('a claim that was never filled is a failed start of the machine', async () => {
    const uid = mintUid();
    mkdirSync(path.join(backends.folder, uid));
    writeFileSync(path.join(backends.folder, uid, 'claim'), '');
    probe.want({ kind: 'keep', uid, launch: launchOf({ command: ['true'] }, { uid }) });
    expect(await probe.over(uid)).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'START_FAILED' } });
  });
});

describe('a clock set back', () => {
  test('two minutes, between start and end: the duration is the time that passed', async () => {
    await probe.backend.close();
    let shift = 0;
    const next = await backends.open({
      nowMs: () => Date.now() + shift,
      monotonicMs: () => performance.now(),
    });
    const gate = path.join(backends.folder, 'gate');
    const script = `until test -e ${gate}; do sleep 0.02; done; sleep 0.4`;
    const launch = launchOf({ command: ['sh', '-c', script] });
    const begun = performance.now();
    next.run(launch);
    await next.state(launch.uid, 'RUNNING');
    shift = -120_000;
    writeFileSync(gate, '');
    const end = await next.over(launch.uid);
    expect(end.durationMs).toBeGreaterThanOrEqual(390);
    expect(end.durationMs).toBeLessThanOrEqual(performance.now() - begun);
  });
});

describe('memory', () => {
  test('a limit of the system: the cause names it', async () => {
    const launch = launchOf({
      command: ['python3', '-c', 'x = bytearray(200_000_000); print(len(x))'],
      memory: '64MB',
    });
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'MEMORY_LIMIT' } });
    expect(end.cause?.message).toContain('61 MiB');
  });

  test('without a control group a task near its limit is warned of, in the log of the host as well', async () => {
    await probe.backend.close();
    const next = await backends.open({ groups: noGroups, memorySampleMs: 100 });
    const script = 'import time; x = bytearray(b"x") * 276_000_000; time.sleep(300)';
    const launch = launchOf({ command: ['python3', '-S', '-c', script], memory: '300MB' });
    next.run(launch);
    const warned = await next.warned(launch.uid);
    expect(warned).toMatchObject({
      state: 'RUNNING',
      cause: null,
      warnings: [{ code: 'MEMORY_NEAR_LIMIT' }],
    });
    expect(warned.warnings[0]?.message).toMatch(/^The task uses 2[5-8]\d.* MiB; its memory limit is 286 MiB/);
    expect(backends.warnings).toContain(warned.warnings[0]?.message);
    next.stop(launch.uid, { graceMs: 0 });
    expect(await next.over(launch.uid)).toMatchObject({ state: 'KILLED', warnings: warned.warnings });
  });

  test('without a control group it is measured', async () => {
    await probe.backend.close();
    const next = await backends.open({ groups: noGroups, memorySampleMs: 100 });
    const launch = launchOf({
      command: ['python3', '-c', 'import time; x = bytearray(200_000_000); time.sleep(300)'],
      memory: '64MB',
    });
    next.run(launch);
    const end = await next.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', signal: 'SIGKILL', cause: { code: 'MEMORY_LIMIT' } });
    // How far it got before the third sample depends on the machine.
    expect(end.peakMemoryBytes).toBeGreaterThan(64_000_000);
    expect(livingOf(backends.folder)).toEqual([]);
  });
});
