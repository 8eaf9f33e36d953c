/** A stop whose grace outlives the host that sent its signal: some programs take a second one for impatience, and quit without saving. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProcessView } from '../../main/machine/processes.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import { eventually } from '../harness/eventually.js';
import { processBackends, type ProcessBackends } from '../harness/process-backend.js';

const longMs = 60_000;
const graceMs = 60_000;
let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-signal-'));
  // Tasks in containers have a user of their own.
  chmodSync(scratch, 0o777);
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** Notes each signal, and saves its work until the gate is there. */
const saving = (signal = 'TERM', folder = scratch): string =>
  `trap 'echo ${signal} >>${folder}/told' ${signal}; : >${folder}/ready; until [ -e ${folder}/gate ]; do sleep 0.02; done; exit 7`;
const has = (name: string) => eventually(() => existsSync(path.join(scratch, name))).toBe(true);
const told = () => readFileSync(path.join(scratch, 'told'), 'utf8');
const open = () => writeFileSync(path.join(scratch, 'gate'), '');

describe('of a process', () => {
  let backends: ProcessBackends;
  let probe: BackendProbe;
  beforeEach(async () => {
    backends = await processBackends();
    probe = await backends.open();
  });
  afterEach(() => backends.dispose());

  /** `looked`: resolves once a look at whom to tell came after the step; they are told in the same turn. */
  const openCounting = async () => {
    let looks = 0;
    const view = createProcessView();
    const scan = () => {
      looks += 1;
      return view.scan();
    };
    const host = await backends.open({ processes: { ...view, scan } });
    const looked = async (step: () => void) => {
      const before = looks;
      step();
      await eventually(() => looks).toBeGreaterThan(before);
    };
    return { host, looked };
  };
  /** A next host that goes on with the stop. */
  const again = async (uid: string, signal = 'SIGTERM') => {
    const { host, looked } = await openCounting();
    await looked(() => host.stop(uid, { graceMs, signal }));
    return host;
  };

  const started = async (more: { timeout?: number; stopSignal?: 'SIGINT' } = {}) => {
    const launch = launchOf({ command: ['sh', '-c', saving(more.stopSignal?.slice(3))], ...more });
    probe.run(launch);
    await has('ready');
    return launch;
  };

  test.each([{}, { timeout: 300_000 }, { stopSignal: 'SIGINT' as const }])(
    'it is sent once, however often hosts come and go (%j)',
    async (more) => {
      const { uid } = await started(more);
      const signal = more.stopSignal ?? 'SIGTERM';
      probe.stop(uid, { graceMs, signal });
      await has('told');
      let host = probe;
      for (let turn = 1; turn <= 3; turn += 1) {
        await host.backend.close();
        host = await again(uid, signal);
      }
      open();
      const end = await host.over(uid);
      expect(end).toMatchObject({ state: 'KILLED', exitCode: 7 });
      expect(told()).toBe(`${signal.slice(3)}\n`);
    },
  );

  test('a host killed before it could note it makes the next one send it, so that no task spends its grace unknowing', async () => {
    const { uid } = await started();
    probe.stop(uid, { graceMs });
    await has('told');
    await probe.backend.close();
    rmSync(path.join(backends.folder, uid, 'sent.SIGTERM'));
    const host = await again(uid);
    await eventually(told).toBe('TERM\nTERM\n');
    await host.backend.close();
    const last = await again(uid);
    open();
    expect(await last.over(uid)).toMatchObject({ state: 'KILLED', exitCode: 7 });
    expect(told()).toBe('TERM\nTERM\n');
  });

  test('a shell that was about to become the command is told once it has, and only then is that noted', async () => {
    const [begun, fork] = [path.join(scratch, 'begun'), path.join(scratch, 'fork')];
    const name = readdirSync(backends.folder).find((each) => each.startsWith('.supervisor-'));
    const file = path.join(backends.folder, name ?? '');
    // As the system may stop for a while between the two steps, in which a shell forgets a signal.
    const late = `trap '' TERM; : >${begun}; until [ -e ${fork} ]; do :; done; trap - TERM; exec "$@"`;
    const text = readFileSync(file, 'utf8');
    const launch = launchOf({ command: ['sleep', '300'] });
    await probe.backend.close();
    const { host, looked } = await openCounting();
    writeFileSync(file, text.replaceAll('(exec "$@"', `(${late}`));
    host.run(launch);
    await has('begun');
    await looked(() => host.stop(launch.uid, { graceMs }));
    expect(existsSync(path.join(backends.folder, launch.uid, 'sent.SIGTERM'))).toBe(false);
    writeFileSync(fork, '');
    const end = await host.over(launch.uid);
    expect(end).toMatchObject({ state: 'KILLED', exitCode: 143, signal: 'SIGTERM' });
  });
});

describe.skipIf(noEngine)(withEngine('of a container'), () => {
  let engine: OwnEngine;
  let backends: DockerBackends;
  let probe: BackendProbe;
  beforeEach(async () => {
    engine = await ownEngine(['--live-restore']);
    backends = await dockerBackends(engine);
    probe = await backends.open();
  });
  afterEach(async () => {
    await backends.dispose();
    await engine.stop();
  });

  const stopped = async () => {
    const mounts = [{ source: scratch, target: '/scratch' }];
    const launch = backends.launch({ command: ['sh', '-c', saving('TERM', '/scratch')], mounts });
    probe.run(launch);
    await has('ready');
    probe.stop(launch.uid, { graceMs, container: true });
    await has('told');
    await eventually(() => noteOf(launch.uid)).toContain('"sent":true');
    return launch;
  };
  const noteOf = (uid: string) => readFileSync(path.join(backends.folder, uid, 'sent.json'), 'utf8');
  /** A next host that goes on with the stop: it has sent what it sends once it says so again. */
  const again = async (uid: string) => {
    const host = await backends.open();
    host.stop(uid, { graceMs, container: true });
    await host.state(uid, 'RUNNING', longMs);
    await eventually(() => noteOf(uid)).toContain('"sent":true');
    return host;
  };

  test('it is sent once, however often hosts come and go', async () => {
    const { uid } = await stopped();
    let host = probe;
    for (let turn = 1; turn <= 3; turn += 1) {
      await host.backend.close();
      host = await again(uid);
    }
    open();
    expect(await host.over(uid, longMs)).toMatchObject({ state: 'KILLED', exitCode: 7 });
    expect(told()).toBe('TERM\n');
  });

  test('the Engine knows that it was sent where a host was killed before the answer, unless it was started anew', async () => {
    const { uid } = await stopped();
    const forget = () =>
      writeFileSync(
        path.join(backends.folder, uid, 'sent.json'),
        noteOf(uid).replace('"sent":true', '"sent":false'),
      );
    await probe.backend.close();
    forget();
    const host = await again(uid);
    expect(told()).toBe('TERM\n');
    await host.backend.close();
    forget();
    await engine.kill();
    await engine.start();
    const last = await again(uid);
    await eventually(told).toBe('TERM\nTERM\n');
    open();
    expect(await last.over(uid, longMs)).toMatchObject({ state: 'KILLED', exitCode: 7 });
    expect(told()).toBe('TERM\nTERM\n');
  });
});
