/** An Engine that is reached by TCP with TLS: with the right certificates, and each way to have the wrong ones. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findEndpoint } from '../../main/backends/workstation/docker/endpoint.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import { certificates, tlsArguments } from '../harness/certificates.js';
import { barCommand, expectSeenSoon } from '../harness/live-bar.js';
import type { BackendProbe } from '../harness/backend-probe.js';

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}

describe.skipIf(noEngine)(withEngine('an Engine behind TLS'), () => {
  let folder: string;
  let address: string;
  let engine: OwnEngine;
  let backends: DockerBackends;
  const inFolder = (...parts: string[]) => path.join(folder, ...parts);
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'iris-tls-'));
    certificates(inFolder('right'), '127.0.0.1');
    certificates(inFolder('other'), '127.0.0.1');
    address = `tcp://127.0.0.1:${await freePort()}`;
    engine = await ownEngine(tlsArguments(inFolder('right'), address));
  });
  afterAll(async () => {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    backends = await dockerBackends(engine);
  });
  afterEach(() => backends.dispose());

  const opened = (environment: Readonly<Record<string, string>>): Promise<BackendProbe> =>
    backends.open({ findEngine: () => findEndpoint({ environment, home: folder, uid: 4_000_000 }) });
  const withCertificates = (name: string) =>
    opened({ DOCKER_HOST: address, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: inFolder(name) });

  const runs = async (probe: BackendProbe) => {
    const launch = backends.launch({ command: ['sh', '-c', 'echo by TLS; exit 3'] });
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 3 });
    expect(await probe.text(launch.uid)).toBe('by TLS\n');
  };
  const fault = async (probe: BackendProbe) => {
    await probe.until(() => probe.lastWorkers[0]?.docker?.state === 'FAILED');
    return probe.lastWorkers[0]?.docker?.message ?? '';
  };

  test('runs what DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH lead to', async () => {
    await runs(await withCertificates('right'));
  });

  test('shows a line while it grows, within a second', async () => {
    const probe = await withCertificates('right');
    const launch = backends.launch({ command: [...barCommand] });
    await expectSeenSoon(probe, launch, backends.work);
  });

  test('runs what a docker context with its certificates leads to', async () => {
    const hash = createHash('sha256').update('lab').digest('hex');
    const tls = inFolder('config', 'contexts', 'tls', hash, 'docker');
    const meta = inFolder('config', 'contexts', 'meta', hash);
    for (const made of [tls, meta]) mkdirSync(made, { recursive: true });
    for (const name of ['ca.pem', 'cert.pem', 'key.pem'])
      copyFileSync(inFolder('right', name), path.join(tls, name));
    const endpoint = { Endpoints: { docker: { Host: address } } };
    writeFileSync(path.join(meta, 'meta.json'), JSON.stringify(endpoint));
    writeFileSync(inFolder('config', 'config.json'), JSON.stringify({ currentContext: 'lab' }));
    await runs(await opened({ DOCKER_CONFIG: inFolder('config') }));
  });

  test('says which certificate is wrong, or missing, and what to do', async () => {
    const mixed = (name: string, files: Readonly<Record<string, string>>) => {
      mkdirSync(inFolder(name));
      for (const [file, from] of Object.entries(files))
        copyFileSync(inFolder(from, file), inFolder(name, file));
    };
    mixed('wrong-authority', { 'ca.pem': 'other', 'cert.pem': 'right', 'key.pem': 'right' });
    mixed('wrong-client', { 'ca.pem': 'right', 'cert.pem': 'other', 'key.pem': 'other' });
    mixed('no-client', { 'ca.pem': 'right' });
    expect(await fault(await withCertificates('wrong-authority'))).toMatch(
      /certificate that the authority in your ca\.pem did not sign.*Put the right ca\.pem/,
    );
    expect(await fault(await withCertificates('wrong-client'))).toMatch(
      /does not accept your certificate \(cert\.pem\)/,
    );
    const missing = await fault(await withCertificates('no-client'));
    expect(missing).toContain(`${inFolder('no-client', 'cert.pem')} (your own certificate) cannot be read`);
    expect(missing).toContain('DOCKER_CERT_PATH');
    expect(await fault(await opened({ DOCKER_HOST: address }))).toMatch(/wants TLS: set DOCKER_TLS_VERIFY=1/);
  });
});
