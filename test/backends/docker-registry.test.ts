/** Images from a real registry: fetched with progress, cancelled, with every kind of login, and each refusal told apart. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ImageControl } from '../../main/backends/backend.js';
import type { WorkstationOptions } from '../../main/backends/workstation/workstation-backend.js';
import { eventually } from '../harness/process-backend.js';
import type { BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  engineImage,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import { noRegistry, slowWay, startRegistry, type OwnRegistry } from '../harness/registry.js';

const why = noRegistry && !noEngine ? ' (left out: no docker-registry)' : '';
const longMs = 120_000;
const layerBytes = 4_000_000;

describe.skipIf(noEngine || noRegistry)(withEngine(`images of a registry${why}`), () => {
  let folder: string;
  let engine: OwnEngine;
  let open: OwnRegistry;
  let locked: OwnRegistry;
  let backends: DockerBackends;
  let probe: BackendProbe;
  let images: ImageControl;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'iris-registry-'));
    engine = await ownEngine();
    open = await startRegistry(folder, false);
    locked = await startRegistry(folder, true);
    await engine.docker('tag', engineImage, 'base');
    for (const layer of ['one', 'two']) {
      const file = path.join(folder, layer);
      // What cannot be packed smaller, so that its size is known.
      writeFileSync(file, randomBytes(layerBytes));
      const id = (await engine.docker('create', '--network', 'host', 'base', 'true')).trim();
      await engine.docker('cp', file, `${id}:/${layer}`);
      await engine.docker('commit', id, 'base');
      await engine.docker('rm', id);
    }
    const name = `${open.address}/lab/tool:1`;
    await engine.docker('tag', 'base', name);
    await engine.docker('push', '-q', name);
    await engine.docker('rmi', name, 'base');
  });
  afterAll(async () => {
    await Promise.all([open.stop(), locked.stop()]);
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    probe = await opened({});
  });
  afterEach(async () => {
    await backends.dispose();
    const names = (await engine.docker('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n');
    const fetched = names.filter((name) => name.startsWith('127.0.0.1:'));
    if (fetched.length > 0) await engine.docker('rmi', '-f', ...fetched);
  });

  /** With Docker's own configuration, and programs on the path. */
  async function opened(
    config: object,
    programs: Readonly<Record<string, string>> = {},
    more: Partial<WorkstationOptions> = {},
  ) {
    const home = mkdtempSync(path.join(folder, 'home-'));
    writeFileSync(path.join(home, 'config.json'), JSON.stringify(config));
    mkdirSync(path.join(home, 'bin'));
    for (const [name, text] of Object.entries(programs))
      writeFileSync(path.join(home, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const environment = {
      ...process.env,
      DOCKER_CONFIG: home,
      PATH: `${path.join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    };
    const other = await backends.open({ environment, ...more });
    await other.until(() => other.lastWorkers[0]?.docker?.state === 'READY');
    const control = other.backend.images?.('here');
    if (control === undefined || control === null) throw new Error('there are no images to look after');
    images = control;
    return other;
  }

  const view = (image: string) => images.pulls().find((pull) => pull.image === image);
  const ended = async (image: string) => {
    await eventually(() => view(image)?.state !== 'PULLING', 'the fetch has ended', longMs);
    return view(image);
  };
  const basic = (user: string, password: string) => ({
    auths: { [locked.address]: { auth: Buffer.from(`${user}:${password}`).toString('base64') } },
  });

  test('tells how far each layer has come, is cancelled, and goes on when asked again', async () => {
    const way = await slowWay(open.address, layerBytes);
    try {
      const image = `${way.address}/lab/tool:1`;
      await images.pull(image);
      await eventually(() => (view(image)?.doneBytes ?? 0) > 0, 'something has come', longMs);
      expect(view(image)).toMatchObject({ state: 'PULLING', layers: 3 });
      expect(view(image)?.layersDone).toBeLessThan(3);
      expect(view(image)?.doneBytes).toBeLessThan(2 * layerBytes);
      images.cancel(image);
      expect(await ended(image)).toMatchObject({
        state: 'CANCELLED',
        message: `The pull of ${image} was cancelled.`,
      });
      expect((await images.list()).flatMap(({ names }) => names)).not.toContain(image);
      way.release();
      await images.pull(image);
      expect(await ended(image)).toMatchObject({ state: 'DONE', layers: 3, layersDone: 3, message: null });
      const { doneBytes = 0, totalBytes = 0 } = view(image) ?? {};
      // How much of it the Engine kept from before is its own affair: it tells the bytes of what it still fetched.
      expect(totalBytes).toBe(doneBytes);
      expect((await images.list()).flatMap(({ names }) => names)).toContain(image);
    } finally {
      way.close();
    }
  });

  test('tells who watches each step of a fetch, and of images that others bring and remove', async () => {
    const told = { pulls: 0, images: 0, caches: 0 };
    const end = images.watch((what) => {
      told[what] += 1;
    });
    try {
      await eventually(() => told.images > 0, 'the watch has begun', longMs);
      const image = `${open.address}/lab/tool:1`;
      await images.pull(image);
      expect(await ended(image)).toMatchObject({ state: 'DONE' });
      // It begins, three layers come and are unpacked, and it ends.
      expect(told.pulls).toBeGreaterThan(4);
      for (const act of [
        ['tag', image, 'base'],
        ['rmi', 'base'],
      ] as const) {
        const before = told.images;
        await engine.docker(...act);
        await eventually(() => told.images > before, `${act[0]} is told of`, longMs);
      }
    } finally {
      end();
    }
    const before = { ...told };
    await images.pull(`${open.address}/lab/tool:1`);
    await ended(`${open.address}/lab/tool:1`);
    expect(told).toEqual(before);
  });

  test('is fetched by the job that needs it, and once by two', async () => {
    const image = `${open.address}/lab/tool:1`;
    const launches = ['one', 'two'].map((layer) =>
      backends.launch({ command: ['sh', '-c', `wc -c </${layer}`], image, pull: 'missing' }),
    );
    probe.want(...launches.map((launch) => ({ kind: 'run' as const, launch })));
    for (const { uid } of launches) {
      expect(await probe.over(uid, longMs)).toMatchObject({ state: 'SUCCEEDED' });
      expect(await probe.text(uid)).toBe(`${layerBytes}\n`);
    }
    expect(images.pulls().filter((pull) => pull.image === image)).toHaveLength(1);
  });

  test.each(['kill', 'quit'] as const)(
    'is fetched anew for a job when the Engine was restarted meanwhile (%s)',
    async (how) => {
      const way = await slowWay(open.address, layerBytes);
      try {
        const image = `${way.address}/lab/tool:1`;
        const launch = backends.launch({ command: ['true'], image });
        probe.run(launch);
        await eventually(() => (view(image)?.doneBytes ?? 0) > 0, 'something has come', longMs);
        await engine[how]();
        way.release();
        await engine.start();
        expect(await probe.over(launch.uid, longMs)).toMatchObject({ state: 'SUCCEEDED', cause: null });
      } finally {
        way.close();
      }
    },
  );

  test('of a private registry comes with a login of config.json', async () => {
    const image = `${locked.address}/lab/tool:1`;
    const host = await opened(basic('tester', 'right'));
    const launch = backends.launch({ command: ['true'], image, pull: 'always' });
    host.run(launch);
    expect(await host.over(launch.uid, longMs)).toMatchObject({ state: 'SUCCEEDED' });
  });

  test('of a private registry comes with a login that a credential helper keeps', async () => {
    const image = `${locked.address}/lab/tool:1`;
    const answer = JSON.stringify({ ServerURL: locked.address, Username: 'tester', Secret: 'right' });
    const helper = `test "$1" = get && test "$(cat)" = ${locked.address} && echo '${answer}'`;
    await opened({ credHelpers: { [locked.address]: 'lab' } }, { 'docker-credential-lab': helper });
    await images.pull(image);
    expect(await ended(image)).toMatchObject({ state: 'DONE' });
  });

  const fetches = (image: string) => images.pulls().filter((pull) => pull.image === image).length;

  test('is asked for again where the registry does not answer, as it was seen to, and why is said', async () => {
    const down = await startRegistry(mkdtempSync(path.join(folder, 'down-')), false);
    await down.stop();
    const image = `${down.address}/lab/tool:1`;
    const host = await opened({}, {}, { pullPausesMs: [50, 50] });
    const launch = backends.launch({ command: ['true'], image });
    host.run(launch);
    const end = await host.over(launch.uid, longMs);
    // No fault of the job: another machine may have it, or this one later.
    expect(end).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'REGISTRY_UNREACHABLE' },
      warnings: [],
    });
    expect(end.cause?.message).toContain(down.address);
    expect(end.cause?.message).toContain('It was asked 3 times.');
    const building = host.reports.filter(({ uid, state }) => uid === launch.uid && state === 'BUILDING');
    const reasons = building.flatMap(({ warnings }) => warnings.map(({ message }) => message));
    for (const which of ['2 of 3', '3 of 3'])
      expect(reasons.some((reason) => reason.includes(`asked again 1 s later (${which})`))).toBe(true);
    expect(reasons.every((reason) => reason.includes(down.address))).toBe(true);
  });

  test('comes to a job that waits for it once the registry answers as it should', async () => {
    const answers = { trouble: true };
    const proxy = http.createServer((request, response) => {
      if (answers.trouble) {
        response.writeHead(503).end();
        return;
      }
      const [host = '', port = ''] = open.address.split(':');
      const { method, url, headers } = request;
      const on = http.request({ host, port, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      on.on('error', () => response.destroy());
      request.pipe(on);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const image = `127.0.0.1:${(proxy.address() as AddressInfo).port}/lab/tool:1`;
      const host = await opened({}, {}, { pullPausesMs: Array.from({ length: 500 }, () => 100) });
      const launch = backends.launch({ command: ['true'], image });
      host.run(launch);
      const warned = await host.warned(launch.uid, longMs);
      expect(warned).toMatchObject({ state: 'BUILDING', warnings: [{ code: 'REGISTRY_UNREACHABLE' }] });
      expect(warned.warnings[0]?.message).toContain('503');
      answers.trouble = false;
      const end = await host.over(launch.uid, longMs);
      expect(end).toMatchObject({ state: 'SUCCEEDED', cause: null });
      // Nothing is asked any more.
      const said = end.warnings.map(({ message }) => message).join();
      expect(said).toContain('The image is there now.');
      expect(said).not.toContain('asked again');
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  test('is not asked for again by a job that is stopped meanwhile', async () => {
    const image = '127.0.0.1:1/lab/tool:1';
    const host = await opened({}, {}, { pullPausesMs: [3_600_000] });
    const launch = backends.launch({ command: ['true'], image });
    host.run(launch);
    await host.warned(launch.uid, longMs);
    host.stop(launch.uid, { container: true });
    expect(await host.over(launch.uid, longMs)).toMatchObject({ state: 'KILLED' });
    expect(fetches(image)).toBe(1);
  });

  test('says of each refusal what it is', async () => {
    const cases = [
      [{}, `${open.address}/lab/tool:2`, 'IMAGE_NOT_FOUND', 'lab/tool:2'],
      [{}, `${open.address}/lab/nosuch:1`, 'IMAGE_NOT_FOUND', 'lab/nosuch:1'],
      [{}, `${locked.address}/lab/tool:1`, 'REGISTRY_LOGIN_NEEDED', 'docker login'],
      [basic('tester', 'wrong'), `${locked.address}/lab/tool:1`, 'REGISTRY_LOGIN_REFUSED', 'tester'],
      [basic('tester', 'right'), `${locked.address}/lab/tool:9`, 'IMAGE_NOT_FOUND', 'lab/tool:9'],
      [
        { credsStore: 'nosuch' },
        `${locked.address}/lab/tool:1`,
        'IMAGE_UNAVAILABLE',
        'docker-credential-nosuch',
      ],
    ] as const;
    for (const [config, image, code, word] of cases) {
      const host = await opened(config);
      const launch = backends.launch({ command: ['true'], image });
      host.run(launch);
      const end = await host.over(launch.uid, longMs);
      expect([end.state, end.cause?.code]).toEqual(['FAILED', code]);
      // What was answered is not asked again.
      expect(fetches(image)).toBe(1);
      expect(end.cause?.message).not.toContain('It was asked');
      expect(end.cause?.message).toContain(word);
      expect(end.cause?.message).not.toMatch(/wrong|right/);
      expect(await ended(image)).toMatchObject({ state: 'FAILED', message: end.cause?.message });
    }
  });
});
