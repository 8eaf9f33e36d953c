/** Containers that ended while no host was there, some with their Engine: what the one that answers later knows of them, and what it does not. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';

const longMs = 120_000;
const configSchema = z.looseObject({ State: z.looseObject({}) });

describe.skipIf(noEngine)(withEngine('containers that end while nobody is there'), () => {
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

  /** Runs until the file `stop` is there, then ends so. */
  const waiting = (end: string) =>
    backends.launch({ command: ['sh', '-c', `until test -e stop; do usleep 1000; done; ${end}`] });
  const begin = async (...launches: readonly ReturnType<typeof waiting>[]) => {
    probe.want(...launches.map((launch) => ({ kind: 'run' as const, launch })));
    for (const { uid } of launches) await probe.state(uid, 'RUNNING', longMs);
    await probe.backend.close();
  };
  /** The ends that a host that comes now is told. */
  const endsOf = async (...launches: readonly ReturnType<typeof waiting>[]) => {
    const host = await backends.open();
    host.want(...launches.map((launch) => ({ kind: 'keep' as const, uid: launch.uid, launch })));
    return Promise.all(launches.map(({ uid }) => host.over(uid, longMs)));
  };

  test.each([
    ['its machine loses its power', 255, () => engine.fall()],
    ['it ends in order, and them with it', 143, () => engine.quit()],
  ])(
    'when %s those that run are lost with it, and what had ended before is told as it ended',
    async (_, code, end) => {
      const running = backends.launch({ command: ['sleep', '300'] });
      const [failed, well] = [waiting('exit 3'), waiting('exit 0')];
      await begin(running, failed, well);
      appendFileSync(path.join(backends.work, 'stop'), '');
      await expect.poll(() => engine.docker('ps', '-q'), { timeout: longMs }).toMatch(/^[0-9a-f]+\n$/);
      await end();
      await engine.start();
      expect(await endsOf(running, failed, well)).toMatchObject([
        { state: 'WORKER_FAILED', exitCode: code, cause: { code: 'CONTAINER_LOST' } },
        { state: 'FAILED', exitCode: 3, cause: { code: 'EXIT_CODE' } },
        { state: 'SUCCEEDED', exitCode: 0 },
      ]);
    },
  );

  test('one that its Engine began and forgot of is ended, and lost with it', async () => {
    const launch = backends.launch({ command: ['sleep', '300'] });
    await begin(launch);
    const state = (format: string) =>
      engine.docker('inspect', '-f', format, `iris-${launch.uid}`).then((said) => said.trim());
    const [id, pid] = [await state('{{.Id}}'), Number(await state('{{.State.Pid}}'))];
    await engine.kill();
    // As it was on disk until the start was done.
    const file = path.join(engine.folder, 'data', 'containers', id, 'config.v2.json');
    const config = configSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    const State = { ...config.State, Running: false, Pid: 0, StartedAt: '0001-01-01T00:00:00Z' };
    writeFileSync(file, JSON.stringify({ ...config, State }));
    await engine.start();
    try {
      expect(await state('{{.State.Status}}')).toBe('created');
      const [end] = await endsOf(launch);
      expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
      expect(end?.cause?.message).toMatch(/does not know whether its command began\.$/);
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      expect(await backends.containers()).toEqual([]);
    } finally {
      if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
    }
  });

  test('the codes an Engine gives to lost ones are taken as they are from one that saw them end', async () => {
    const launches = [waiting('exit 255'), waiting('exit 143'), waiting('kill -9 $$')];
    await begin(...launches);
    appendFileSync(path.join(backends.work, 'stop'), '');
    await expect.poll(() => engine.docker('ps', '-q'), { timeout: longMs }).toBe('');
    expect(await endsOf(...launches)).toMatchObject([
      { state: 'FAILED', exitCode: 255, cause: { code: 'EXIT_CODE' } },
      { state: 'FAILED', exitCode: 143, cause: { code: 'EXIT_OR_SIGNAL' } },
      { state: 'FAILED', exitCode: 137, cause: { code: 'EXIT_OR_SIGNAL' } },
    ]);
  });
});
