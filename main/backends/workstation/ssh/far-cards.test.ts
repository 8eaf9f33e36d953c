import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GpuReading } from '../../../machine/gpus.js';
import { eventually } from '../../../../test/harness/eventually.js';
import { capture } from '../../../../test/harness/nvidia-stub.js';
import { FarCards } from './far-cards.js';
import { FarWord, type FarText } from './far-words.js';
import type { MachineFacts } from './machine-memory.js';

let home: string;
let cards: FarCards;
let readings: GpuReading[];

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'iris-far-cards-'));
  readings = [];
  cards = new FarCards({
    name: 'ws-2',
    home,
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    onReading: (reading) => void readings.push(reading),
  });
});
afterEach(() => {
  cards.close();
  rmSync(home, { recursive: true });
});

function say(kind: string, ...texts: string[]): void {
  cards.word(
    new FarWord(
      kind,
      texts.map((text) => Buffer.from(text)),
    ),
  );
}

/** A hand whose tool gives that capture. */
function connect(bootId: string): void {
  const answer = (kind: FarText, id: FarText, ...args: FarText[]): void => {
    if (kind !== 'tool') return;
    const text = args.slice(2).join(' ') === '-q -x' ? capture('k80-x4-minor-number-not-list-order.xml') : '';
    setImmediate(() => say('tool', String(id), 'done', text));
  };
  cards.connected((...texts) => answer(texts[0] ?? '', texts[1] ?? '', ...texts.slice(2)), {
    bootId,
    memoryBytes: 64e9,
  } as MachineFacts);
}

const xid = (code: number) => `3,1,1,-;NVRM: Xid (PCI:4968:00:00): ${code}, pid=1, it went wrong`;
const third = () => readings.at(-1)?.gpus[2]?.state;

test('after a start of the machine its kernel numbers records anew, and new errors are seen all the same', async () => {
  connect('boot-1');
  say('kernel', '1', '50000');
  await cards.look();
  expect(third()).toBe('FREE');
  cards.disconnected();
  connect('boot-2');
  // What it wrote before anybody looked is history.
  say('kernel', '1', '900', '850', xid(79));
  await cards.look();
  await cards.look();
  expect(third()).toBe('FREE');
  say('kernel', '1', '1200', '1200', xid(48));
  await cards.look();
  await cards.look();
  expect(third()).toBe('SICK');
  expect(readings.at(-1)?.gpus[2]?.stateReason).toContain('Xid 48');
});

test('what was found before a cut stands, and the same boot goes on', async () => {
  connect('boot-1');
  say('kernel', '1', '100');
  await cards.look();
  cards.disconnected();
  connect('boot-1');
  say('kernel', '1', '101', '101', xid(79));
  await cards.look();
  await cards.look();
  expect(third()).toBe('SICK');
});

test('a machine without the tool says what it has instead', async () => {
  const hand = (kind: FarText, id: FarText = ''): void => {
    if (kind === 'tool') setImmediate(() => say('tool', String(id), 'done', 'absent 0x8086 0x1002'));
  };
  cards.connected(hand, { bootId: 'boot-1', memoryBytes: 64e9 } as MachineFacts);
  await cards.look();
  expect(readings.at(-1)?.gpus).toEqual([]);
  expect(readings.at(-1)?.note).toContain('there are AMD graphics');
});

test('what the tool says there after its time is taken at once, without another question', async () => {
  const asked: string[] = [];
  const hand = (kind: FarText, id: FarText = '', ...args: FarText[]): void => {
    if (kind !== 'tool') return;
    const question = args.slice(2).join(' ');
    asked.push(question);
    setImmediate(() => say('tool', String(id), ...(question === '-q -x' ? ['late', ''] : ['done', ''])));
  };
  cards.connected(hand, { bootId: 'boot-1', memoryBytes: 64e9 } as MachineFacts);
  await cards.look();
  expect(readings.at(-1)).toMatchObject({ gpus: [], note: 'nvidia-smi did not answer within 10 s' });
  say('tool', '1', 'done', capture('k80-x4-minor-number-not-list-order.xml'));
  await eventually(third).toBe('FREE');
  expect(asked.filter((question) => question === '-q -x')).toHaveLength(1);
});
