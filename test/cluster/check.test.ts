/** What is said of a machine before it is added, against real sshds in every state, and what the fleet does with one that was. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSshFleet, type SshFleet } from '../../main/backends/workstation/ssh-fleet.js';
import { ownKnownHosts } from '../../main/backends/workstation/ssh/machine-memory.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { BackendProbe, launchOf } from '../harness/backend-probe.js';
import { FakeBackend, FakeMachine } from '../harness/fake-backend.js';
import { describeLab, labMachines, type LabMachines } from '../harness/lab.js';

let machines: LabMachines;
let home: string;
let two: LabHost;
let three: LabHost;
let fleet: SshFleet;

function fleetWith(configFile: string): SshFleet {
  return createSshFleet({
    local: new FakeBackend(new FakeMachine()),
    home,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    client: { configFile },
  });
}

const outcomes = async (address: string, acceptKey: string | null = null, of = fleet) => {
  const look = await of.machines.check(address, acceptKey);
  const found = Object.fromEntries(look.checks.map((check) => [check.step, check]));
  return { ...look, found, failed: look.checks.filter(({ outcome }) => outcome === 'FAILED') };
};

describeLab('a look at a machine', () => {
  beforeAll(async () => {
    machines = await labMachines();
    home = await mkdtemp(path.join(os.tmpdir(), 'iris-check-home-'));
    two = await machines.lab.host('ws-two');
    three = await machines.lab.host('ws-three');
    fleet = fleetWith(machines.lab.configFile);
  });
  afterAll(async () => {
    await fleet.backend.close();
    await machines.dispose();
    await rm(home, { recursive: true, force: true });
  });

  test('goes through all steps of one that is well', async () => {
    const { checks, usable, identity, found } = await outcomes('ws-two');
    expect(usable).toBe(true);
    expect(identity).toMatch(/^[0-9a-f]{32}$/);
    expect(checks.map(({ step }) => step)).toEqual([
      'reach',
      'host-key',
      'login',
      'shell',
      'attempts-folder',
      'docker',
      'gpus',
      'disk',
      'clock',
    ]);
    expect(found['host-key']).toMatchObject({ outcome: 'OK', fingerprint: two.fingerprint() });
    expect(found['shell']?.message).toContain('ws-two');
    expect(found['docker']).toMatchObject({
      outcome: 'WARNING',
      message: expect.stringContaining('no Docker'),
    });
    expect(found['gpus']?.outcome).toBe('OK');
    expect(found['clock']?.outcome).toBe('OK');
  });

  test('shows an unknown key and takes it only by its own fingerprint', async () => {
    machines.lab.writeClient(false);
    const unknown = await outcomes('ws-two');
    expect(unknown.failed).toMatchObject([{ step: 'host-key', fingerprint: two.fingerprint() }]);
    expect(unknown.usable).toBe(false);
    expect(unknown.identity).toBeNull();
    expect(unknown.found['login']?.outcome).toBe('SKIPPED');
    const wrong = await outcomes('ws-two', three.fingerprint());
    expect(wrong.failed).toMatchObject([{ step: 'host-key' }]);
    expect(wrong.found['host-key']?.message).toContain(`not ${three.fingerprint()}`);
    expect(existsSync(ownKnownHosts(home))).toBe(false);
    const accepted = await outcomes('ws-two', two.fingerprint());
    expect(accepted.usable).toBe(true);
    expect(readFileSync(machines.lab.knownHosts, 'utf8')).toBe('');
    expect((await outcomes('ws-two')).usable).toBe(true);
  });

  test('shows a changed key as changed, and takes it by hand', async () => {
    machines.lab.writeClient(true);
    three.newHostKey();
    three.restartSshd();
    const changed = await outcomes('ws-three');
    expect(changed.failed).toMatchObject([{ step: 'host-key', fingerprint: three.fingerprint() }]);
    expect(changed.found['host-key']?.message).toContain('another host key than the one that is known');
    expect((await outcomes('ws-three', three.fingerprint())).usable).toBe(true);
    expect((await outcomes('ws-three')).usable).toBe(true);
  });

  test('says where it ends with one that does not let us in, has no Perl, takes no connections, or is off', async () => {
    const config = path.join(home, 'config');
    await writeFile(
      config,
      `Host ws-two\n  HostName ${two.address}\n  User root\n  IdentityFile /none\n  IdentitiesOnly yes\n`,
    );
    const stranger = fleetWith(config);
    const closed = await outcomes('ws-two', two.fingerprint(), stranger);
    expect(closed.failed).toMatchObject([{ step: 'login', advice: expect.stringContaining('ssh-copy-id') }]);
    await stranger.backend.close();
    three.searchPath = '/nowhere';
    three.restartSshd();
    const bare = await outcomes('ws-three');
    expect(bare.failed).toMatchObject([{ step: 'shell', message: expect.stringContaining('no Perl') }]);
    three.searchPath = '';
    three.stopSshd();
    expect((await outcomes('ws-three')).failed).toMatchObject([
      { step: 'reach', message: expect.stringContaining('takes no SSH connections') },
    ]);
    three.restartSshd();
    three.cut();
    expect((await outcomes('ws-three')).failed).toMatchObject([
      { step: 'reach', message: expect.stringContaining('Nothing answers') },
    ]);
    three.mend();
    expect((await outcomes('nobody-is-called-this')).failed).toMatchObject([{ step: 'reach' }]);
  });

  test('a machine that was added runs what is placed on it, until it is removed', async () => {
    const { identity } = await outcomes('ws-two');
    const probe = new BackendProbe(fleet.backend);
    await fleet.backend.start(probe);
    probe.reconcile();
    fleet.machines.add({ id: 'two', address: 'ssh://ws-two', identity });
    fleet.machines.add({ id: 'wrong', address: 'ssh://ws-two', identity: '0'.repeat(32) });
    const worker = (id: string) => fleet.backend.observe().find((one) => one.id === id);
    await probe.until(
      () =>
        worker('two')?.state === 'HEALTHY' &&
        worker('two')?.docker?.state === 'ABSENT' &&
        worker('wrong')?.contact?.state === 'UNREACHABLE',
    );
    expect(worker('wrong')?.contact?.message).toContain('is another machine');
    expect(worker('two')).toMatchObject({ address: 'ssh://ws-two', docker: { state: 'ABSENT' } });
    const launch = launchOf({ command: ['hostname'] }, { workerId: 'two' });
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(launch.uid)).toBe('ws-two\n');
    await fleet.machines.remove('two');
    await fleet.machines.remove('wrong');
    expect(fleet.backend.observe().map(({ id }) => id)).not.toContain('two');
  });
});
