/** An Engine that dies, containers that others meddle with, and hosts that come and go: nothing is lost, doubled or started twice. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  dockerBackends,
  engineImage,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import type { BackendProbe } from '../harness/backend-probe.js';

const longMs = 60_000;

describe.skipIf(noEngine)(withEngine('containers and faults'), () => {
  let engine: OwnEngine;
  let backends: DockerBackends;
  let probe: BackendProbe;
  beforeEach(async () => {
    engine = await ownEngine();
    backends = await dockerBackends(engine);
    probe = await backends.open();
  });
  afterEach(async () => {
    await engine.start();
    await backends.dispose();
    await engine.stop();
  });

  /** Numbered lines on both streams until the file `stop` is there, then one last line. */
  const counting = () =>
    backends.launch({
      command: [
        'sh',
        '-c',
        'i=0; until test -e stop; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); usleep 500; done; echo last',
      ],
    });

  const lines = async (on: BackendProbe, uid: string, stream: 'out' | 'err') =>
    (await on.text(uid, stream)).split('\n').filter((line) => line !== '');

  /** Each number once, in order, from the first on. */
  const expectCounted = (said: readonly string[], stream: 'out' | 'err') => {
    const numbered = said.filter((line) => line !== 'last');
    expect(numbered).toEqual(Array.from({ length: numbered.length }, (_, index) => `${stream} ${index}`));
  };

  const until = async (test: () => Promise<boolean>) => {
    await expect.poll(test, { timeout: longMs, interval: 50 }).toBe(true);
  };

  test('an Engine killed in mid stream and started again', async () => {
    const launch = counting();
    const next = backends.launch({ command: ['sh', '-c', 'echo ran'] });
    probe.run(launch);
    await until(async () => (await lines(probe, launch.uid, 'out')).length > 200);
    await engine.kill();
    // Asked for while nothing answers.
    probe.run(next);
    await probe.state(next.uid, 'BUILDING');
    await engine.start();
    const end = await probe.over(launch.uid, longMs);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
    expect(end.cause?.message).toContain('Engine');
    for (const stream of ['out', 'err'] as const)
      expectCounted(await lines(probe, launch.uid, stream), stream);
    expect((await lines(probe, launch.uid, 'out')).length).toBeGreaterThan(200);
    expect(await probe.over(next.uid, longMs)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(next.uid)).toBe('ran\n');
  });

  test('hosts that come and go while it writes', async () => {
    const launch = counting();
    probe.run(launch);
    let host = probe;
    for (let turn = 1; turn <= 4; turn += 1) {
      const before = (await lines(host, launch.uid, 'out')).length;
      await until(async () => (await lines(host, launch.uid, 'out')).length > before + 100);
      await host.backend.close();
      // What was copied after the last note and is copied again: a host that was killed leaves that.
      for (const stream of ['out', 'err'])
        appendFileSync(path.join(backends.folder, launch.uid, stream), `${stream} not noted`);
      host = await backends.open();
      host.want({ kind: 'keep', uid: launch.uid, launch });
    }
    appendFileSync(path.join(backends.work, 'stop'), '');
    expect(await host.over(launch.uid, longMs)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    const said = await lines(host, launch.uid, 'out');
    expect(said.at(-1)).toBe('last');
    expectCounted(said, 'out');
    const errors = await lines(host, launch.uid, 'err');
    expectCounted(errors, 'err');
    expect(errors.length).toBe(said.length - 1);
  });

  test('a terminal whose host comes and goes', async () => {
    const launch = backends.launch({
      command: [
        'sh',
        '-c',
        'i=0; until test -e stop; do printf "\\r%d%%" $i; i=$((i+1)); usleep 500; done; echo last',
      ],
      tty: true,
    });
    probe.run(launch);
    await until(async () => (await probe.text(launch.uid)).length > 500);
    await probe.backend.close();
    const host = await backends.open();
    host.want({ kind: 'keep', uid: launch.uid, launch });
    const before = (await host.text(launch.uid)).length;
    await until(async () => (await host.text(launch.uid)).length > before + 500);
    appendFileSync(path.join(backends.work, 'stop'), '');
    await host.over(launch.uid, longMs);
    const states = (await host.text(launch.uid))
      .replace(/last\r\n$/, '')
      .split('\r')
      .slice(1);
    expect(states).toEqual(Array.from({ length: states.length }, (_, index) => `${index}%`));
  });

  test('a container removed by hand, and one stopped by hand', async () => {
    const removed = backends.launch({ command: ['sleep', '300'] });
    const stopped = backends.launch({ command: ['sleep', '300'] });
    probe.want({ kind: 'run', launch: removed }, { kind: 'run', launch: stopped });
    await probe.state(removed.uid, 'RUNNING', longMs);
    await probe.state(stopped.uid, 'RUNNING', longMs);
    await engine.docker('rm', '-f', `iris-${removed.uid}`);
    await engine.docker('stop', `iris-${stopped.uid}`);
    for (const { uid } of [removed, stopped]) {
      const end = await probe.over(uid, longMs);
      expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
    }
  });

  test('a container removed while no host was there is not started again', async () => {
    const launch = backends.launch({ command: ['sh', '-c', 'echo once >>runs; sleep 300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING', longMs);
    await probe.backend.close();
    await engine.docker('rm', '-f', `iris-${launch.uid}`);
    const host = await backends.open();
    host.run(launch);
    expect(await host.over(launch.uid, longMs)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'CONTAINER_LOST' },
    });
    expect(await backends.containers()).toEqual([]);
  });

  test('an image that is gone by the time it is needed', async () => {
    await engine.docker('tag', engineImage, 'going:1');
    await engine.docker('rmi', 'going:1');
    const launch = backends.launch({ command: ['true'], image: '127.0.0.1:1/going:1' });
    probe.run(launch);
    const end = await probe.over(launch.uid, longMs);
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'REGISTRY_UNREACHABLE' } });
    const [pull] = probe.backend.images?.('here')?.pulls() ?? [];
    expect(pull).toMatchObject({ image: '127.0.0.1:1/going:1', state: 'FAILED' });
  });
});
