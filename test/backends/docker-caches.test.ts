/** The caches of a real Engine's containers: measured, kept while one has them mounted, emptied after that. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CacheControl } from '../../main/backends/backend.js';
import type { BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';

describe.skipIf(noEngine)(withEngine('caches of containers'), () => {
  let engine: OwnEngine;
  let backends: DockerBackends;
  let probe: BackendProbe;
  beforeAll(async () => {
    engine = await ownEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    probe = await backends.open();
    await probe.until(() => probe.lastWorkers[0]?.docker?.state === 'READY');
  });
  afterEach(() => backends.dispose());

  function control(): CacheControl {
    const found = probe.backend.images?.(probe.lastWorkers[0]?.id ?? '');
    if (found === null || found === undefined) throw new Error('no containers run here');
    return found.caches;
  }
  const bytesOf = (name: string) =>
    control()
      .view()
      .caches.find((one) => one.name === name)?.bytes ?? null;
  const mounted = { refusal: { code: 'FAILED_PRECONDITION', message: expect.stringContaining('mounted') } };

  test('are measured, kept while a container of ours has them, and made anew for the next', async () => {
    const script = [
      'dd if=/dev/zero of="$UV_CACHE_DIR/wheel" bs=1024 count=2048 2>/dev/null',
      'mkdir -p "$HF_HUB_CACHE/a/b" && chmod 555 "$HF_HUB_CACHE/a"',
      'touch filled; until test -e go; do usleep 20000; done; ls "$UV_CACHE_DIR"',
    ].join('; ');
    const first = backends.launch({ command: ['sh', '-c', script] });
    probe.run(first);
    await expect.poll(() => existsSync(path.join(backends.work, 'filled')), { timeout: 30_000 }).toBe(true);
    expect(await control().measure()).toMatchObject({ state: 'MEASURED', left: null });
    expect(bytesOf('uv')).toBeGreaterThanOrEqual(2048 * 1024);
    await expect(control().empty(['uv', 'hf'])).rejects.toMatchObject(mounted);
    writeFileSync(path.join(backends.work, 'go'), '');
    expect(await probe.over(first.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(first.uid)).toBe('wheel\n');
    expect(await control().empty(['uv', 'hf'])).toEqual(['uv', 'hf']);
    await expect.poll(() => control().view().removing, { timeout: 10_000 }).toBe(false);
    const { folder, left } = control().view();
    expect([readdirSync(folder).sort(), left]).toEqual([['cache', 'cargo'], null]);
    const second = backends.launch({
      command: ['sh', '-c', 'ls "$UV_CACHE_DIR"; touch "$UV_CACHE_DIR/new"'],
    });
    probe.run(second);
    expect(await probe.over(second.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(second.uid)).toBe('');
    expect(existsSync(path.join(folder, 'uv', 'new'))).toBe(true);
  });

  test('are kept while a container that is not ours has one mounted, also before it runs', async () => {
    const first = backends.launch({ command: ['true'] });
    probe.run(first);
    await probe.over(first.uid);
    const { folder } = control().view();
    const launched = backends.launch({ command: ['true'] });
    const image = launched.spec.image ?? '';
    await engine.docker('create', '--name', 'by-hand', '-v', `${folder}/hf:/x`, image, 'true');
    try {
      await expect(control().empty(['uv'])).rejects.toMatchObject(mounted);
      await expect(control().empty(['uv'])).rejects.toThrow('by-hand runs in a container');
    } finally {
      await engine.docker('rm', '-f', 'by-hand');
    }
    expect(await control().empty(['uv'])).toEqual(['uv']);
  });
});
