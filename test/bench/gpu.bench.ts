/** What reading the cards costs this program, in its own processor time; the tool's own cost is not in it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSampleLine } from '../../core/formats/nvidia-smi/csv.js';
import { parseNvidiaSmi } from '../../core/formats/nvidia-smi/xml.js';
import { limit, type BenchContext } from './harness.js';

export const name = 'gpu';

const cards = 8;
const rounds = 2000;
const wholeRounds = 40;

export function run(context: BenchContext): Promise<void> {
  const lines = Array.from(
    { length: cards },
    (_, at) =>
      `00000000:${at}0:00.0, GPU-a000000${at}-0000-4000-8000-000000000000, 97, 40123, 61, 301.20, 1980, 2619, 0`,
  );
  const sample = perRound(rounds, () => {
    for (const line of lines) if (parseSampleLine(line) === null) throw new Error(`not read: ${line}`);
  });
  const text = descriptionOf(context.root);
  const whole = perRound(wholeRounds, () => {
    const reading = parseNvidiaSmi(text);
    if (!reading.ok || reading.cards.length !== cards) throw new Error('The description was not read.');
  });
  context.note(
    `${cards} cards; the description of all is ${Math.round(text.length / 1024)} KiB, read once a minute`,
  );
  context.figure(limit({ name: 'one sample of 8 cards', value: sample, unit: 'ms', atMost: 1 }));
  context.figure(limit({ name: 'the whole description of 8 cards', value: whole, unit: 'ms' }));
  return Promise.resolve();
}

function perRound(count: number, work: () => void): number {
  for (let round = 0; round < count / 4; round += 1) work();
  const before = process.cpuUsage();
  for (let round = 0; round < count; round += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}

/** One card of a capture, eight times. */
function descriptionOf(root: string): string {
  const capture = readFileSync(
    path.join(root, 'test/fixtures/nvidia-smi/rtx-4000-sff-ada-schema-v13.xml'),
    'utf8',
  );
  const card = /<gpu id=[\s\S]*<\/gpu>/.exec(capture)?.[0] ?? '';
  return capture.replace(card, card.repeat(cards));
}
