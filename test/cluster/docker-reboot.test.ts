/** A machine by SSH is started anew under containers: they are gone, or stopped, or were begun again by its Engine. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { launchOf } from '../harness/backend-probe.js';
import { engineImage, ownEngine, type OwnEngine } from '../harness/engine.js';
import { describeLabEngine, labMachines, quickLimits, type LabMachines } from '../harness/lab.js';

let engine: OwnEngine;
let machines: LabMachines;
let host: LabHost;

/** Never lost, however long it takes. */
const patient = { ...quickLimits, limits: { ...quickLimits.limits, lossAfterMs: 600_000 } };

describeLabEngine('containers on a workstation by SSH that is started anew', () => {
  beforeAll(async () => {
    engine = await ownEngine();
    machines = await labMachines();
  }, 90_000);
  afterAll(async () => {
    await machines.dispose();
    await engine.stop();
  }, 60_000);
  beforeEach(async () => {
    host = await machines.lab.host('ws-two', { dockerSocket: engine.socket });
    host.sh(`mkdir -p ${host.home}/jobs`);
  });
  afterEach(async () => {
    await engine.start();
    await machines.closeProbes();
    await machines.lab.remove(host);
    await engine.clear();
  });

  const counted = (script: string) =>
    launchOf(
      {
        command: ['sh', '-c', `echo "$IRIS_ATTEMPT_UID" >>begun; ${script}`],
        image: engineImage,
        workingDirectory: `${host.home}/jobs`,
      },
      { workerId: 'ws-two' },
    );
  const begun = () => host.sh(`cat ${host.home}/jobs/begun`).trim().split('\n');
  const containers = async () => (await engine.docker('ps', '-aq')).split('\n').filter(Boolean);

  /** The Engine falls with its machine, and comes back with it. */
  const reboot = async (meanwhile: () => Promise<void> | void = () => undefined) => {
    await Promise.all([host.powerOff(), engine.fall()]);
    await meanwhile();
    await engine.start();
    await host.boot();
  };

  test.each(['stopped', 'gone'])(
    'end as by a fault of the machine where they are %s, with what they said, and run again once',
    async (how) => {
      const probe = await machines.open(host, patient);
      await probe.until(() => probe.backend.observe()[0]?.docker?.state === 'READY', 20_000);
      const writes = counted('i=0; while :; do echo "out $i"; i=$((i+1)); usleep 2000; done');
      const silent = counted('exec sleep 300');
      probe.want({ kind: 'run', launch: writes }, { kind: 'run', launch: silent });
      for (const { uid } of [writes, silent]) await probe.state(uid, 'RUNNING', 30_000);
      await expect
        .poll(async () => (await probe.text(writes.uid)).split('\n').length, { timeout: 30_000 })
        .toBeGreaterThan(100);
      const bootId = probe.backend.observe()[0]?.bootId;
      await reboot();
      if (how === 'gone') for (const id of await containers()) await engine.docker('rm', '-f', id);
      for (const { uid } of [writes, silent]) {
        const end = await probe.over(uid, 60_000);
        expect(end.state).toBe('WORKER_FAILED');
        expect(['CONTAINER_LOST', 'REBOOTED']).toContain(end.cause?.code);
        expect(end.exitCode === 0).toBe(false);
      }
      await probe.healthy();
      expect(probe.backend.observe()[0]?.bootId).not.toBe(bootId);
      const said = (await probe.text(writes.uid)).split('\n').slice(0, -1);
      expect(said).toEqual(Array.from({ length: said.length }, (_, index) => `out ${index}`));
      await expect.poll(containers, { timeout: 60_000 }).toEqual([]);
      const next = counted('echo again');
      probe.run(next);
      expect(await probe.over(next.uid, 60_000)).toMatchObject({ state: 'SUCCEEDED' });
      expect(await probe.text(next.uid)).toBe('again\n');
      expect(begun().toSorted()).toEqual([writes.uid, silent.uid, next.uid].toSorted());
      const told = (uid: string) => [
        ...new Set(probe.reports.filter((report) => report.uid === uid).map(({ state }) => state)),
      ];
      expect(told(silent.uid)).toEqual(['BUILDING', 'RUNNING', 'WORKER_FAILED']);
    },
    150_000,
  );

  test('that had ended well before are told so, and one asked for meanwhile runs once', async () => {
    const probe = await machines.open(host, patient);
    await probe.until(() => probe.backend.observe()[0]?.docker?.state === 'READY', 20_000);
    const ends = counted('until test -e go; do usleep 20000; done; echo whole; exit 0');
    probe.run(ends);
    await probe.state(ends.uid, 'RUNNING', 30_000);
    host.cut();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    appendFileSync(path.join(host.home, 'jobs', 'go'), '');
    await expect.poll(async () => (await engine.docker('ps', '-q')).trim(), { timeout: 30_000 }).toBe('');
    const late = counted('echo late');
    await reboot(() => probe.run(late));
    host.mend();
    expect(await probe.over(ends.uid, 60_000)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    expect(await probe.text(ends.uid)).toBe('whole\n');
    expect(await probe.over(late.uid, 60_000)).toMatchObject({ state: 'SUCCEEDED' });
    expect(begun()).toEqual([ends.uid, late.uid]);
  }, 150_000);
});
