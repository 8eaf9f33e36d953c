/** `ssh://` as DOCKER_HOST: the system's ssh to a real sshd, and Docker's own command there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { findEndpoint } from '../../main/backends/workstation/docker/endpoint.js';
import { Lab, type LabHost } from '../../scripts/lib/lab-hosts.mjs';
import type { BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import { barCommand, expectSeenSoon } from '../harness/live-bar.js';
import { describeLab } from '../harness/lab.js';

const describeEngine = noEngine && process.env['CI'] !== 'true' ? describeLab.skip : describeLab;
const longMs = 120_000;

describeEngine('an Engine that DOCKER_HOST names by ssh', () => {
  let engine: OwnEngine;
  let lab: Lab;
  let host: LabHost;
  let programs: string;
  let backends: DockerBackends;
  beforeAll(async () => {
    engine = await ownEngine();
    lab = new Lab();
    host = await lab.host('ws-engine', { dockerSocket: engine.socket });
    programs = mkdtempSync(path.join(os.tmpdir(), 'iris-ssh-'));
    // The user's own configuration is read from a home that no test may change.
    const ssh = `#!/bin/sh\nPATH=$REST exec ssh -F ${lab.configFile} "$@"\n`;
    writeFileSync(path.join(programs, 'ssh'), ssh, { mode: 0o755 });
  }, longMs);
  afterAll(async () => {
    await lab.close();
    await engine.stop();
    rmSync(programs, { recursive: true, force: true });
  }, longMs);
  beforeEach(async () => {
    vi.stubEnv('REST', process.env['PATH'] ?? '');
    vi.stubEnv('PATH', `${programs}:${process.env['PATH'] ?? ''}`);
    backends = await dockerBackends(engine);
  });
  afterEach(async () => {
    await backends.dispose();
    vi.unstubAllEnvs();
    lab.writeClient(true);
  });

  const opened = (): Promise<BackendProbe> => {
    const environment = { DOCKER_HOST: 'ssh://root@ws-engine' };
    return backends.open({ findEngine: () => findEndpoint({ environment, home: programs, uid: 4_000_000 }) });
  };

  test('runs containers, follows their logs and stops them, all by one login', async () => {
    const probe = await opened();
    await probe.until(() => probe.lastWorkers[0]?.docker?.state === 'READY');
    // Where the first answer took long it was asked for by another login.
    const before = host.logins();
    expect(before).toBeGreaterThan(0);
    const ended = backends.launch({ command: ['sh', '-c', 'echo by ssh; exit 4'] });
    const stopped = backends.launch({ command: ['sh', '-c', 'echo here; exec sleep 300'] });
    probe.want({ kind: 'run', launch: ended }, { kind: 'run', launch: stopped });
    expect(await probe.over(ended.uid, longMs)).toMatchObject({ state: 'FAILED', exitCode: 4 });
    expect(await probe.text(ended.uid)).toBe('by ssh\n');
    await probe.state(stopped.uid, 'RUNNING', longMs);
    await expect.poll(() => probe.text(stopped.uid), { timeout: longMs }).toBe('here\n');
    probe.stop(stopped.uid, { container: true, graceMs: 500 });
    expect(await probe.over(stopped.uid, longMs)).toMatchObject({ state: 'KILLED' });
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([]);
    expect(host.logins() - before).toBe(0);
  }, 120_000);

  test('goes on by another login when the one there was is cut off', async () => {
    const probe = await opened();
    const launch = backends.launch({
      command: ['sh', '-c', 'echo one; until [ -e gate ]; do sleep 0.05; done; echo two; exit 5'],
    });
    probe.run(launch);
    await expect.poll(() => probe.text(launch.uid), { timeout: longMs }).toBe('one\n');
    const before = host.logins();
    host.restartSshd();
    await expect.poll(() => host.logins(), { timeout: longMs }).toBe(before + 1);
    writeFileSync(path.join(backends.work, 'gate'), '');
    expect(await probe.over(launch.uid, longMs)).toMatchObject({ state: 'FAILED', exitCode: 5 });
    expect(await probe.text(launch.uid)).toBe('one\ntwo\n');
  }, 120_000);

  test('asks by a login each where there is no Perl', async () => {
    const bare = path.join(programs, 'bare');
    mkdirSync(bare);
    symlinkSync(
      execFileSync('sh', ['-c', 'command -v docker'], { encoding: 'utf8' }).trim(),
      path.join(bare, 'docker'),
    );
    host.searchPath = bare;
    host.restartSshd();
    try {
      const probe = await opened();
      const launch = backends.launch({ command: ['sh', '-c', 'echo plain; exit 6'] });
      probe.run(launch);
      expect(await probe.over(launch.uid, longMs)).toMatchObject({ state: 'FAILED', exitCode: 6 });
      expect(await probe.text(launch.uid)).toBe('plain\n');
    } finally {
      host.searchPath = '';
      host.restartSshd();
    }
  }, 120_000);

  test('shows a line while it grows, within a second', async () => {
    const probe = await opened();
    const launch = backends.launch({ command: [...barCommand] });
    await expectSeenSoon(probe, launch, backends.work);
  }, 120_000);

  test('is not spoken to while its host key is unknown, and says so', async () => {
    lab.writeClient(false);
    const probe = await opened();
    const docker = () => probe.lastWorkers[0]?.docker;
    await probe.until(() => docker()?.state === 'FAILED', longMs);
    expect(docker()?.message).toContain('ssh://root@ws-engine');
    expect(docker()?.message).toContain('Host key verification failed');
  }, 120_000);
});
