/** Podman, which answers as Docker does where it is asked: what runs there, and what it does otherwise. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { BackendProbe } from '../harness/backend-probe.js';
import { dockerBackends, type DockerBackends, type OwnEngine } from '../harness/engine.js';
import { boundingSet, noPodman, rightsHere, startPodman, withPodman } from '../harness/podman.js';

const longMs = 120_000;

describe.skipIf(noPodman)(withPodman('Podman'), () => {
  let engine: OwnEngine;
  let backends: DockerBackends;
  let probe: BackendProbe;
  beforeAll(async () => {
    engine = await startPodman();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    probe = await backends.open();
  });
  afterEach(() => backends.dispose());

  async function ran(script: string, request: Partial<JobRequest> = {}) {
    const launch = backends.launch({ command: ['sh', '-c', script], ...request });
    probe.run(launch);
    const end = await probe.over(launch.uid, longMs);
    return { end, out: await probe.text(launch.uid), err: await probe.text(launch.uid, 'err') };
  }

  test('is called by its name', async () => {
    await probe.until(() => probe.lastWorkers[0]?.docker?.state === 'READY', longMs);
    expect(probe.lastWorkers[0]?.docker).toMatchObject({ found: { engine: 'Podman' } });
  });

  test('runs a command with its streams and exit code, and leaves nothing', async () => {
    const { end, out, err } = await ran('id -u; echo err >&2; exit 3');
    expect(end).toMatchObject({ state: 'FAILED', exitCode: 3, cause: { code: 'EXIT_CODE' } });
    expect([out, err]).toEqual(['0\n', 'err\n']);
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([]);
  });

  test('has its logs copied byte for byte: lines without end, huge ones, and what a terminal shows', async () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `${index + 1}`).join('');
    expect((await ran('seq 20000 | tr -d "\\n"; echo; printf "no end"')).out).toBe(`${text}\nno end`);
    const { out } = await ran('tty; printf "\\r1%%"; printf "\\r2%%\\n"', { tty: true });
    // Nothing of what it was asked is taken for what is typed.
    expect(out).toMatch(/^\/dev\/pts\/\d+\r\n\r1%\r2%\r\n$/);
  });

  test('is followed over a restart of ours without a line lost or doubled', async () => {
    const launch = backends.launch({
      command: ['sh', '-c', 'i=0; until test -e stop; do echo $i; i=$((i+1)); usleep 2000; done; echo last'],
    });
    probe.run(launch);
    const lines = async (on: BackendProbe) => (await on.text(launch.uid)).split('\n').slice(0, -1);
    await expect.poll(async () => (await lines(probe)).length, { timeout: longMs }).toBeGreaterThan(100);
    await probe.backend.close();
    const host = await backends.open();
    host.want({ kind: 'keep', uid: launch.uid, launch });
    const before = (await lines(host)).length;
    await expect
      .poll(async () => (await lines(host)).length, { timeout: longMs })
      .toBeGreaterThan(before + 100);
    appendFileSync(path.join(backends.work, 'stop'), '');
    expect(await host.over(launch.uid, longMs)).toMatchObject({ state: 'SUCCEEDED' });
    const all = await lines(host);
    expect(all.pop()).toBe('last');
    expect(all).toEqual(all.map((_, index) => String(index)));
  });

  test('stops a container on request', async () => {
    const launch = backends.launch({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING', longMs);
    probe.stop(launch.uid, { container: true, graceMs: 500 });
    expect(await probe.over(launch.uid, longMs)).toMatchObject({ state: 'KILLED' });
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([]);
  });

  test('gives a privileged one every right the machine has', async () => {
    const { end, out } = await ran('cat /proc/self/status', { containerProfile: 'privileged' });
    expect(end).toMatchObject({ state: 'SUCCEEDED', cause: null });
    expect(boundingSet(out)).toBe(rightsHere());
  });
});
