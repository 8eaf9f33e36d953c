/** Hands of several controllers and a controller of the machine itself want one card at the same moment: it is given to one at most. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { identityOf, surroundingsHere } from '../../main/backends/workstation/claims/liveness.js';
import { MachineClaims } from '../../main/backends/workstation/claims/machine-claims.js';
import { launchOf } from '../harness/backend-probe.js';
import { eventually } from '../harness/eventually.js';
import { LocalHand } from '../harness/local-hand.js';

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const rounds = 150;

/** In a container: it is claimed before there is anything to start. */
function onCard() {
  const launch = launchOf({ command: ['true'], gpu: '1' }, { devices: [card] });
  return { ...launch, spec: { ...launch.spec, image: 'an-image' } };
}

async function deadClaim(): Promise<string> {
  const child = spawn('sleep', ['300']);
  const host = identityOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return JSON.stringify({
    version: 1,
    owner: 'gone',
    controller: '9'.repeat(16),
    attempt: 'gone',
    devices: [card],
    cpuMillicores: 0,
    memoryBytes: 0,
    ...surroundingsHere(),
    host,
    supervisor: null,
    container: false,
  });
}

test('who asks at the same moment gets it alone, or nobody does, also where a dead claim is in the way', async () => {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-far-race-'));
  const claims = path.join(scratch, 'claims');
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const attemptsFolder = path.join(scratch, 'near');
  const near = new MachineClaims({ folder: claims, attemptsFolder, log, onChange: () => undefined });
  const dead = await deadClaim();
  const hands = await Promise.all(
    ['a', 'b', 'c', 'd'].map((letter) =>
      LocalHand.open({ home: path.join(scratch, letter), claims, controller: letter.repeat(16) }),
    ),
  );
  let given = 0;
  try {
    for (let round = 0; round < rounds; round += 1) {
      if (round % 3 > 0) writeFileSync(path.join(claims, `device-${card}-${round % 3}`), dead);
      const asked = hands.map((hand) => ({ hand, launch: onCard() }));
      const answers = asked.map(({ hand, launch }) => hand.prepare(launch));
      const own = onCard();
      const nearHas = near.take(own) === null;
      const far = await Promise.all(answers);
      const holders = far.filter((word) => word.text(1) !== '').length + (nearHas ? 1 : 0);
      expect(holders).toBeLessThanOrEqual(1);
      given += holders;
      const live = readdirSync(claims).filter((name) => name.startsWith('attempt-'));
      expect(live).toHaveLength(holders);
      near.release(own.uid);
      for (const { hand, launch } of asked) hand.send('release', launch.uid);
      await eventually(() => readdirSync(claims).filter((name) => name.startsWith('attempt-'))).toEqual([]);
      for (const name of readdirSync(claims)) rmSync(path.join(claims, name), { force: true });
    }
  } finally {
    near.close();
    for (const hand of hands) await hand.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  expect(given).toBeGreaterThan(0);
});
