/** A progress bar that never ends its line, and moves when it is told to: how soon each step is seen. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import type { BackendProbe } from './backend-probe.js';

const steps = 11;
const longMs = 120_000;

/** Its command; `folder` is its working folder. */
export const barCommand: readonly string[] = [
  'sh',
  '-c',
  `i=0; while test $i -lt ${steps}; do until test -e step$i; do usleep 2000; done; printf "\\r%d%%" $i; i=$((i+1)); done; sleep 300`,
];

type Launch = Parameters<BackendProbe['run']>[0];

/**
 * Runs it, moves it step by step, each when the one before was seen, and gives the milliseconds from the word to move until the log has it: the
 * median, which one pause of a busy machine does not move. What is heard is shown 100 ms later, and has to be seen within a second.
 */
export async function expectSeenSoon(probe: BackendProbe, launch: Launch, folder: string): Promise<void> {
  const { uid } = launch;
  probe.run(launch);
  await probe.state(uid, 'RUNNING', longMs);
  const delays: number[] = [];
  let text = '';
  for (let step = 0; step < steps; step += 1) {
    text += `\r${step}%`;
    const began = performance.now();
    writeFileSync(path.join(folder, `step${step}`), '');
    await expect.poll(() => probe.text(uid), { timeout: longMs, interval: 5 }).toBe(text);
    delays.push(performance.now() - began);
  }
  const median = delays.sort((one, other) => one - other)[Math.floor(steps / 2)] ?? NaN;
  console.info(
    `seen after ${Math.round(median)} ms (median), at most ${Math.round(delays.at(-1) ?? NaN)} ms`,
  );
  expect(median).toBeLessThan(1000);
  probe.stop(uid, { container: true, graceMs: 500 });
  await probe.over(uid, longMs);
  expect(await probe.text(uid)).toBe(text);
}
