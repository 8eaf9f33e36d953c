/** An Engine on another machine, by TCP with TLS: at an address of a network that can be cut. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { findEndpoint } from '../../main/backends/workstation/docker/endpoint.js';
import { Lab, type LabHost } from '../../scripts/lib/lab-hosts.mjs';
import type { BackendProbe } from '../harness/backend-probe.js';
import { certificates, tlsArguments } from '../harness/certificates.js';
import { dockerBackends, ownEngine, type DockerBackends, type OwnEngine } from '../harness/engine.js';
import { describeLabEngine } from '../harness/lab.js';
import { barCommand, expectSeenSoon } from '../harness/live-bar.js';

const longMs = 120_000;
/** Longer than a connection lives whose keep-alive nobody answers: 11 s. */
const longCutMs = 15_000;
const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeLabEngine('an Engine that DOCKER_HOST names by TCP on another machine', () => {
  let folder: string;
  let lab: Lab;
  let host: LabHost;
  let engine: OwnEngine;
  let backends: DockerBackends;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'iris-tls-'));
    lab = new Lab();
    host = await lab.host('ws-tls');
    const keys = path.join(folder, 'keys');
    certificates(keys, host.address);
    const address = `tcp://${host.address}:2376`;
    environment = { DOCKER_HOST: address, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: keys };
    // In that host's network, and its containers with it; its files are those of here.
    const dockerd = `#!/bin/sh\nPATH=\${PATH#*:}\nexec nsenter --net=/run/netns/${host.space} dockerd "$@"\n`;
    writeFileSync(path.join(folder, 'dockerd'), dockerd, { mode: 0o755 });
    engine = await ownEngine(tlsArguments(keys, address), folder);
  }, longMs);
  afterAll(async () => {
    await engine.stop();
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  }, longMs);
  beforeEach(async () => {
    backends = await dockerBackends(engine);
  });
  afterEach(async () => {
    mend();
    await backends.dispose();
  }, longMs);

  const opened = (): Promise<BackendProbe> =>
    backends.open({ findEngine: () => findEndpoint({ environment, home: folder, uid: 4_000_000 }) });

  // What is meant for it must not go to the next router instead, where anybody may answer.
  const nowhere = () => ['unreachable', host.address, 'metric', '4000'];
  const cut = () => {
    spawnSync('ip', ['route', 'add', ...nowhere()]);
    host.cut();
  };
  let muted = false;
  const mute = () => {
    host.mute();
    muted = true;
  };
  const mend = () => {
    host.mend();
    spawnSync('ip', ['route', 'del', ...nowhere()]);
    if (muted) host.unmute();
    muted = false;
  };

  /** Numbered lines on both streams, so many a second that some are printed in every part of a cut. */
  const counting = () =>
    backends.launch({
      command: [
        'sh',
        '-c',
        'i=0; until test -e stop; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); usleep 20000; done; exit 6',
      ],
    });
  const size = async (probe: BackendProbe, uid: string) => (await probe.text(uid)).length;
  const expectWhole = async (probe: BackendProbe, uid: string) => {
    const count = (await probe.text(uid)).split('\n').length - 1;
    for (const stream of ['out', 'err'] as const) {
      const text = Array.from({ length: count }, (_, index) => `${stream} ${index}\n`).join('');
      expect(await probe.text(uid, stream)).toBe(text);
    }
  };

  test('runs containers there, follows their logs and stops them', async () => {
    const probe = await opened();
    const ended = backends.launch({
      command: ['sh', '-c', 'ip -o -4 addr | grep -c " lo "; ip -o -4 addr; exit 4'],
    });
    const stopped = backends.launch({ command: ['sh', '-c', 'echo here; exec sleep 300'] });
    probe.want({ kind: 'run', launch: ended }, { kind: 'run', launch: stopped });
    expect(await probe.over(ended.uid, longMs)).toMatchObject({ state: 'FAILED', exitCode: 4 });
    expect(await probe.text(ended.uid)).toContain(` ${host.address}/30 `);
    await probe.state(stopped.uid, 'RUNNING', longMs);
    await expect.poll(() => probe.text(stopped.uid), { timeout: longMs }).toBe('here\n');
    probe.stop(stopped.uid, { container: true, graceMs: 500 });
    expect(await probe.over(stopped.uid, longMs)).toMatchObject({ state: 'KILLED' });
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([]);
  }, 120_000);

  test('shows a line while it grows, within a second', async () => {
    const probe = await opened();
    const launch = backends.launch({ command: [...barCommand] });
    await expectSeenSoon(probe, launch, backends.work);
  }, 120_000);

  test.each([
    ['for some seconds', 4000, () => cut()],
    ['longer than its connections live', longCutMs, () => cut()],
    ['in silence, its answers lost on the way', longCutMs, () => mute()],
  ])(
    'goes on with what ran when it was cut off %s',
    async (_what, cutMs, cutOff) => {
      const probe = await opened();
      const launch = counting();
      probe.run(launch);
      await expect.poll(() => size(probe, launch.uid), { timeout: longMs }).toBeGreaterThan(200);
      cutOff();
      await passed(cutMs);
      const before = await size(probe, launch.uid);
      mend();
      await expect.poll(() => size(probe, launch.uid), { timeout: longMs }).toBeGreaterThan(before + 1000);
      writeFileSync(path.join(backends.work, 'stop'), '');
      // Its end is its own, and nobody took the cut for a restart of the Engine.
      expect(await probe.over(launch.uid, longMs)).toMatchObject({
        state: 'FAILED',
        exitCode: 6,
        warnings: [],
      });
      await expectWhole(probe, launch.uid);
      const again = backends.warnings.filter((warning) =>
        warning.startsWith('The log of a container is read again'),
      );
      if (cutMs === longCutMs) expect(again).not.toEqual([]);
    },
    180_000,
  );

  test('what ended while it was cut off and we were away is adopted whole', async () => {
    const probe = await opened();
    const ended = counting();
    probe.run(ended);
    await expect.poll(() => size(probe, ended.uid), { timeout: longMs }).toBeGreaterThan(200);
    cut();
    await probe.backend.close();
    const next = await opened();
    next.want({ kind: 'keep', uid: ended.uid, launch: ended });
    writeFileSync(path.join(backends.work, 'stop'), '');
    await passed(2000);
    expect(next.reports.filter(({ finishedAtMs }) => finishedAtMs !== null)).toEqual([]);
    mend();
    expect(await next.over(ended.uid, longMs)).toMatchObject({ state: 'FAILED', exitCode: 6 });
    await expectWhole(next, ended.uid);
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([]);
  }, 180_000);
});
