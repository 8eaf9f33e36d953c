/** What the profiles that need more than an Engine as it comes let a container do: gVisor's kernel, the Engine's socket, all rights. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { BackendProbe } from '../harness/backend-probe.js';
import { boundingSet, everyRight, lesserRuntime, rightsHere } from '../harness/podman.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';

/** Rights of Linux that each Engine knows, up to CAP_AUDIT_READ; older ones know none of those that came later. */
const known = (1n << 38n) - 1n;
const noRunsc = spawnSync('runsc', ['--version']).error !== undefined;

describe.skipIf(noEngine)(withEngine('profiles of containers'), () => {
  let folder: string;
  let engine: OwnEngine;
  let backends: DockerBackends;
  let probe: BackendProbe;
  /** While it is there gVisor runs as it is installed, with a network of its own. */
  let asInstalled: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'iris-runsc-'));
    asInstalled = path.join(folder, 'as-installed');
    const runsc = path.join(folder, 'runsc');
    const text = `#!/bin/sh\n[ -e '${asInstalled}' ] && exec runsc "$@"\nexec runsc --network=host "$@"\n`;
    writeFileSync(runsc, text, { mode: 0o755 });
    engine = await ownEngine(['--add-runtime', `runsc=${runsc}`]);
  });
  afterAll(async () => {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    probe = await backends.open();
    rmSync(asInstalled, { force: true });
  });
  afterEach(() => backends.dispose());

  async function ran(script: string, request: Partial<JobRequest>) {
    const launch = backends.launch({ command: ['sh', '-c', script], ...request });
    probe.run(launch);
    const end = await probe.over(launch.uid, 60_000);
    return { end, out: await probe.text(launch.uid) };
  }

  describe.skipIf(noRunsc)(`gvisor${noRunsc ? ' (left out: no runsc, Debian: runsc)' : ''}`, () => {
    const gvisor = { containerProfile: 'gvisor' } as const;

    test('runs on a kernel of its own, with its folder, streams and exit code', async () => {
      const script = 'dmesg | grep -c "Starting gVisor"; echo kept >made; exit 3';
      const { end, out } = await ran(script, gvisor);
      expect(end).toMatchObject({ state: 'FAILED', exitCode: 3, cause: { code: 'EXIT_CODE' } });
      expect(out).toBe('1\n');
      expect(readFileSync(path.join(backends.work, 'made'), 'utf8')).toBe('kept\n');
    });

    test('as it is installed cannot use the network of the machine: what to do about it is said', async () => {
      writeFileSync(asInstalled, '');
      const { end } = await ran('true', gvisor);
      expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'START_FAILED' } });
      expect(end.cause?.message).toContain('give runsc "runtimeArgs": ["--network=host"]');
      await expect.poll(() => backends.containers()).toEqual([]);
    });
  });

  test('docker-access has the socket of the Engine, and may use it', async () => {
    const script =
      'test -S /var/run/docker.sock && test -w /var/run/docker.sock && stat -c %i /var/run/docker.sock';
    const { end, out } = await ran(script, { containerProfile: 'docker-access' });
    expect(end).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    expect(Number(out)).toBe(statSync(engine.socket).ino);
    expect((await ran('test -e /var/run/docker.sock', {})).end).toMatchObject({ exitCode: 1 });
  });

  test('privileged has every right there is, which a machine has to have itself', async () => {
    const { end, out } = await ran('cat /proc/self/status', { containerProfile: 'privileged' });
    if (rightsHere() === everyRight()) {
      expect(end).toMatchObject({ state: 'SUCCEEDED', cause: null });
      expect(boundingSet(out) & known).toBe(everyRight() & known);
    } else {
      // In a virtual machine or container that was given fewer. It is no fault of the job.
      expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'START_FAILED' } });
      expect(end.cause?.message).toContain('unable to apply caps');
    }
  });

  test('privileged has the rights and devices of the machine, where its runtime asks for no more', async () => {
    const own = await ownEngine([
      '--add-runtime',
      `lesser=${lesserRuntime(folder)}`,
      '--default-runtime',
      'lesser',
    ]);
    const others = await dockerBackends(own);
    try {
      const host = await others.open();
      const run = async (request: Partial<JobRequest>) => {
        const script =
          'cat /proc/self/status; mount -t tmpfs none /tmp && echo mounted; test -c /dev/kmsg && echo device';
        const launch = others.launch({ command: ['sh', '-c', script], ...request });
        host.run(launch);
        await host.over(launch.uid, 60_000);
        return host.text(launch.uid);
      };
      const privileged = await run({ containerProfile: 'privileged' });
      expect(boundingSet(privileged) & known).toBe(rightsHere() & known);
      expect(privileged).toMatch(/^NoNewPrivs:\s+0$/m);
      expect(privileged).toMatch(/^Seccomp:\s+0$/m);
      expect(privileged).toMatch(/mounted\ndevice\n$/);
      expect(await run({})).not.toMatch(/mounted|device/);
    } finally {
      await others.dispose();
      await own.stop();
    }
  });
});
