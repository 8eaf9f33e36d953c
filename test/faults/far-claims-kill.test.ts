/** The hand on another machine is killed at any moment of a start: a card is never in use unclaimed, nor claimed for nothing. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ClaimsFolder } from '../../main/backends/workstation/claims/claims-folder.js';
import { identityOf, surroundingsHere } from '../../main/backends/workstation/claims/liveness.js';
import { launchOf } from '../harness/backend-probe.js';
import { eventually } from '../harness/eventually.js';
import { LocalHand } from '../harness/local-hand.js';

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const rounds = 60;
/** A start takes about so long where nothing else is to be done. */
const startMs = 12;

test('killed between claim and start, in the midst of either, and after both', async () => {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-far-kill-'));
  const claims = path.join(scratch, 'claims');
  const here = surroundingsHere();
  const other = new ClaimsFolder(claims, 'b'.repeat(16), here);
  const options = { home: path.join(scratch, 'home'), claims, controller: 'f'.repeat(16) };
  const came = { toNothing: 0, toRun: 0 };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const ran = path.join(scratch, `ran-${round}`);
      const launch = launchOf(
        { command: ['sh', '-c', `: >${ran}; exec sleep 300`], gpu: '1' },
        { devices: [card] },
      );
      const hand = await LocalHand.open(options);
      hand.start(launch);
      await after(Math.random() * startMs);
      await hand.kill();
      const held = () => other.read().filter(({ dead }) => !dead);
      // Either its task runs, or what was claimed for it proves to be dead.
      await eventually(() => existsSync(ran) || held().length === 0).toBe(true);
      const claim = {
        version: 1 as const,
        owner: 'other',
        controller: 'b'.repeat(16),
        attempt: `b${round}`,
        devices: [card],
        cpuMillicores: 0,
        memoryBytes: 0,
        bootId: here.bootId,
        pidNamespace: here.pidNamespace,
        host: identityOf(process.pid),
        supervisor: null,
        container: false,
      };
      const holder = other.takeDevice(card, claim);
      if (existsSync(ran)) {
        came.toRun += 1;
        expect(holder).toMatchObject({ claim: { attempt: launch.uid } });
      } else {
        came.toNothing += 1;
        expect(holder).toBeNull();
      }
      const next = await LocalHand.open(options);
      await next.close();
      expect(existsSync(ran)).toBe(holder !== null);
      other.release(claim);
      expect(readdirSync(claims)).toEqual([]);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  expect(came.toNothing + came.toRun).toBe(rounds);
});
