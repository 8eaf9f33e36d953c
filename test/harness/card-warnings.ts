/** What the owner of a card by SSH is told of it, whether a process or a container holds it. */
import { expect } from 'vitest';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import type { AttemptLaunch } from '../../main/backends/backend.js';
import type { LabProbe } from './lab.js';
import type { NvidiaStub } from './nvidia-stub.js';

export interface HeldCards {
  /** Looks soon for cards that are idle. */
  readonly probe: LabProbe;
  readonly host: LabHost;
  readonly stub: NvidiaStub;
  /** Both hold a card: of `idle` the one at this bus. */
  readonly idle: AttemptLaunch;
  readonly busy: AttemptLaunch;
  readonly bus: string;
  /** How much of that card is seen in use. */
  readonly use: (percent: number, mebibytes?: number) => void;
}

/** That its card is hardly used, and that somebody else computes on it; nobody is stopped for that. */
export async function expectCardWarnings(cards: HeldCards): Promise<void> {
  const { probe, host, stub, idle, busy, bus, use } = cards;
  use(2);
  probe.run(idle);
  probe.run(busy);
  for (const { uid } of [idle, busy]) await probe.state(uid, 'RUNNING');
  expect((await probe.warned(idle.uid)).warnings).toMatchObject([{ code: 'GPU_IDLE' }]);
  const other = Number(host.sh('setsid sleep 301 >/dev/null 2>&1 & echo $!'));
  stub.compute(bus, other);
  // Memory that moves is looked into at once.
  use(2, 500);
  const intruder = () => probe.last(idle.uid)?.warnings.find(({ code }) => code === 'GPU_INTRUDER');
  await probe.until(() => intruder() !== undefined);
  expect(intruder()?.message).toMatch(
    new RegExp(`python train.py of \\w+ \\(process ${other}, 7 MiB\\).* were left alone`),
  );
  for (const { uid } of [idle, busy]) probe.stop(uid, { graceMs: 1000 });
  await probe.over(idle.uid);
  expect((await probe.over(busy.uid)).warnings).toEqual([]);
  expect(host.sh(`kill -0 ${other} && kill ${other} && echo lives`).trim()).toBe('lives');
}
