/** An Engine that dies, containers that others meddle with, and hosts that come and go: nothing is lost, doubled or started twice. */
import { appendFileSync, existsSync, linkSync, readFileSync, readdirSync } from 'node:fs';
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
import { z } from 'zod';
import { logCutOf } from '../../core/formats/log-cut.js';
import type { BackendProbe } from '../harness/backend-probe.js';

const longMs = 120_000;
const recordSchema = z.object({ log: z.string(), stream: z.string() });

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
  const counting = (end = 'true') =>
    backends.launch({
      command: [
        'sh',
        '-c',
        `i=0; until test -e stop; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); usleep 500; done; echo last; ${end}`,
      ],
    });

  const lines = async (on: BackendProbe, uid: string, stream: 'out' | 'err') =>
    (await on.text(uid, stream)).split('\n').filter((line) => line !== '');

  /**
   * The Engine's own log of the one container there is, kept when the container is removed. What an Engine that is killed had read of its
   * output and not written there is lost with it, an orderly end with `--live-restore` included: of 36 restarts (killed and in order,
   * without and with live-restore, at 3 paces of output) 4 lost 600 to 4,400 lines, all under full load with live-restore. Our copy was the Engine's
   * file to the byte in all 36, so a missing line is the Engine's; that is what is asserted.
   */
  const engineLog = (): (() => Record<'out' | 'err', string>) => {
    const folder = path.join(engine.folder, 'data', 'containers');
    const logs = readdirSync(folder).map((id) => path.join(folder, id, `${id}-json.log`));
    const kept = path.join(engine.folder, 'data', 'kept.log');
    const log = logs.find((file) => existsSync(file));
    if (log === undefined) throw new Error('The Engine has no log of it.');
    linkSync(log, kept);
    return () => {
      const text = { out: '', err: '' };
      for (const row of readFileSync(kept, 'utf8').split('\n').filter(Boolean)) {
        const record = recordSchema.parse(JSON.parse(row));
        text[record.stream === 'stderr' ? 'err' : 'out'] += record.log;
      }
      return text;
    };
  };
  const ourLog = async (on: BackendProbe, uid: string) => ({
    out: await on.text(uid),
    err: await on.text(uid, 'err'),
  });

  /** Each number at most once, in order: nothing is doubled, whatever is missing. */
  const expectRising = (said: readonly string[], stream: 'out' | 'err') => {
    const numbers = said
      .filter((line) => line !== 'last')
      .map((line) => Number(line.replace(`${stream} `, '')));
    expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? NaN))).toBe(true);
  };

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
    const theirs = engineLog();
    await engine.kill();
    // Asked for while nothing answers.
    probe.run(next);
    await probe.state(next.uid, 'BUILDING');
    await engine.start();
    const end = await probe.over(launch.uid, longMs);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
    expect(end.cause?.message).toContain('Engine');
    expect(await ourLog(probe, launch.uid)).toEqual(theirs());
    for (const stream of ['out', 'err'] as const)
      expectRising(await lines(probe, launch.uid, stream), stream);
    expect((await lines(probe, launch.uid, 'out')).length).toBeGreaterThan(200);
    expect(await probe.over(next.uid, longMs)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(next.uid)).toBe('ran\n');
  });

  test.each(['killed', 'ended in order'])(
    'an Engine %s and started again under a container that goes on',
    async (how) => {
      await backends.dispose();
      await engine.stop();
      engine = await ownEngine(['--live-restore']);
      backends = await dockerBackends(engine);
      probe = await backends.open();
      const launch = counting('exit 3');
      probe.run(launch);
      await until(async () => (await lines(probe, launch.uid, 'out')).length > 200);
      const theirs = engineLog();
      await (how === 'killed' ? engine.kill() : engine.quit());
      const before = (await lines(probe, launch.uid, 'out')).length;
      await engine.start();
      const warned = await probe.warned(launch.uid, longMs);
      expect(warned).toMatchObject({ state: 'RUNNING', warnings: [{ code: 'LOG_ENGINE_RESTARTED' }] });
      const place = logCutOf(warned.warnings);
      expect(place?.by).toBe('engine');
      expect(place?.out).toBeGreaterThan(200 * 'out 1\n'.length);
      await until(async () => (await lines(probe, launch.uid, 'out')).length > before + 200);
      appendFileSync(path.join(backends.work, 'stop'), '');
      const end = await probe.over(launch.uid, longMs);
      // The Engine's restart has nothing to do with how it ended.
      expect(end).toMatchObject({ state: 'FAILED', exitCode: 3, cause: { code: 'EXIT_CODE' } });
      const ours = await ourLog(probe, launch.uid);
      expect(ours).toEqual(theirs());
      expect(place?.out).toBeLessThan(ours.out.length);
      expect(ours.out.endsWith('last\n')).toBe(true);
      for (const stream of ['out', 'err'] as const)
        expectRising(await lines(probe, launch.uid, stream), stream);
    },
  );

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

  /** A bar that never ends its line; `steps` of it, or as many as there is time for. */
  const bar = (more: object = {}) =>
    backends.launch({
      command: [
        'sh',
        '-c',
        'i=0; until test -e stop; do printf "\\r%d%%" $i; i=$((i+1)); usleep 2000; done; printf "\\nlast\\n"',
      ],
      ...more,
    });
  const stepsOf = (text: string) =>
    text
      .replace(/\r?\nlast\r?\n$/, '')
      .split('\r')
      .slice(1);
  const counted = (length: number) => Array.from({ length }, (_, index) => `${index}%`);

  test.each([false, true])('a line that is not whole is seen while it grows (terminal: %s)', async (tty) => {
    const launch = bar({ tty });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING', longMs);
    const early = async () => stepsOf(await probe.text(launch.uid));
    await until(async () => (await early()).length > 20);
    // Far from the 16 KiB after which the Engine logs a piece of a line.
    const seen = await early();
    expect(seen.slice(0, -1)).toEqual(counted(seen.length - 1));
    expect((await probe.text(launch.uid)).length).toBeLessThan(16 * 1024);
    appendFileSync(path.join(backends.work, 'stop'), '');
    await probe.over(launch.uid, longMs);
    const all = await early();
    expect(all).toEqual(counted(all.length));
  });

  test('a line that is not whole is neither lost nor doubled by hosts that come and go', async () => {
    const launch = bar();
    probe.run(launch);
    let host = probe;
    for (let turn = 1; turn <= 3; turn += 1) {
      const size = async () => (await host.text(launch.uid)).length;
      const before = await size();
      await until(async () => (await size()) > before + 200);
      await host.backend.close();
      host = await backends.open();
      host.want({ kind: 'keep', uid: launch.uid, launch });
    }
    appendFileSync(path.join(backends.work, 'stop'), '');
    await host.over(launch.uid, longMs);
    const text = await host.text(launch.uid);
    expect(text.endsWith('\nlast\n')).toBe(true);
    const all = stepsOf(text);
    expect(all).toEqual(counted(all.length));
  });

  test.each([false, true])(
    'a line that is not whole is heard again soon after a restart of ours (terminal: %s)',
    async (tty) => {
      const launch = bar({ tty });
      probe.run(launch);
      const size = async () => (await probe.text(launch.uid)).length;
      await until(async () => (await size()) > 100);
      await probe.backend.close();
      const kept = await probe.text(launch.uid);
      // What it prints meanwhile nobody hears, and the Engine keeps it to itself.
      const step = Number(stepsOf(kept).at(-1)?.replace('%', ''));
      const began = performance.now();
      const host = await backends.open();
      host.backend.watchLog(launch.uid, true);
      host.want({ kind: 'keep', uid: launch.uid, launch });
      const heard = () => host.grew.filter(({ uid }) => uid === launch.uid).at(-1)?.heard?.out ?? '';
      await host.until(() => heard() !== '', longMs);
      console.info(`heard again after ${Math.round(performance.now() - began)} ms`);
      expect(performance.now() - began).toBeLessThan(5000);
      await host.until(() => /^\r\d+%$/.test(heard()) && Number(heard().slice(1, -1)) > step, longMs);
      const first = heard();
      await host.until(() => heard() !== first, longMs);
      // It is shown beside the log, which holds what is certain alone.
      expect(await host.text(launch.uid)).toBe(kept);
      appendFileSync(path.join(backends.work, 'stop'), '');
      await host.over(launch.uid, longMs);
      expect(heard()).toBe('');
      const all = stepsOf(await host.text(launch.uid));
      expect(all).toEqual(counted(all.length));
      expect(all.length).toBeGreaterThan(step);
    },
  );

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

  test('a container removed by hand, one stopped by hand, and one restarted by hand that never falls silent', async () => {
    const removed = backends.launch({ command: ['sleep', '300'] });
    const stopped = backends.launch({ command: ['sleep', '300'] });
    const restarted = counting();
    const all = [removed, stopped, restarted];
    probe.want(...all.map((launch) => ({ kind: 'run' as const, launch })));
    for (const { uid } of all) await probe.state(uid, 'RUNNING', longMs);
    await engine.docker('rm', '-f', `iris-${removed.uid}`);
    await engine.docker('stop', `iris-${stopped.uid}`);
    await engine.docker('restart', '-t', '1', `iris-${restarted.uid}`);
    for (const { uid } of all) {
      const end = await probe.over(uid, longMs);
      expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
    }
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([]);
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

  test('an image deleted between submission and start', async () => {
    await engine.docker('tag', engineImage, '127.0.0.1:1/deleted:1');
    const host = await backends.open({ pullPausesMs: [] });
    const [launch, never] = (['MISSING', 'NEVER'] as const).map((pull) =>
      backends.launch({ command: ['true'], image: '127.0.0.1:1/deleted:1', pull }),
    );
    if (launch === undefined || never === undefined) return;
    const names = async () =>
      (await host.backend.images?.('here')?.list())?.flatMap((image) => image.names) ?? [];
    await expect.poll(names, { timeout: longMs }).toContain('127.0.0.1:1/deleted:1');
    await engine.docker('rmi', '127.0.0.1:1/deleted:1');
    host.want({ kind: 'run', launch }, { kind: 'run', launch: never });
    expect(await host.over(launch.uid, longMs)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'REGISTRY_UNREACHABLE' },
    });
    expect(await host.over(never.uid, longMs)).toMatchObject({
      state: 'FAILED',
      cause: { code: 'IMAGE_UNAVAILABLE' },
    });
    expect(await backends.containers()).toEqual([]);
  });

  test('an image that is gone by the time it is needed', async () => {
    await engine.docker('tag', engineImage, 'going:1');
    await engine.docker('rmi', 'going:1');
    const launch = backends.launch({ command: ['true'], image: '127.0.0.1:1/going:1' });
    const host = await backends.open({ pullPausesMs: [] });
    host.run(launch);
    const end = await host.over(launch.uid, longMs);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'REGISTRY_UNREACHABLE' } });
    const [pull] = host.backend.images?.('here')?.pulls() ?? [];
    expect(pull).toMatchObject({ image: '127.0.0.1:1/going:1', state: 'FAILED' });
  });
});
