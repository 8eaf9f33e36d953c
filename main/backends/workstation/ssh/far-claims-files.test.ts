/** Whatever somebody puts into the folder of claims: the far hand reads of it what the controller on the machine itself reads. */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { claimOf } from '../../../../test/harness/claims.js';
import { eventually } from '../../../../test/harness/eventually.js';
import { LocalHand } from '../../../../test/harness/local-hand.js';
import { MachineClaims } from '../claims/machine-claims.js';

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const hands: LocalHand[] = [];
let scratch: string;
let folder: string;
let local: MachineClaims;

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-far-files-'));
  folder = path.join(scratch, 'claims');
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const attemptsFolder = path.join(scratch, 'local');
  local = new MachineClaims({ folder, attemptsFolder, log, onChange: () => undefined });
});
afterEach(async () => {
  local.close();
  for (const hand of hands.splice(0)) await hand.close();
  rmSync(scratch, { recursive: true });
});

async function open(): Promise<LocalHand> {
  const home = path.join(scratch, 'home');
  const hand = await LocalHand.open({ home, claims: folder, controller: 'f'.repeat(16) });
  hands.push(hand);
  return hand;
}

const onCard = () => launchOf({ command: ['sleep', '300'], gpu: '1' }, { devices: [card] });

describe('what somebody puts there to do harm', () => {
  const target = () => path.join(folder, `device-${card}-0`);
  const victim = () => path.join(scratch, 'victim');
  const write = (content: string | Uint8Array, name = target()) => writeFileSync(name, content);
  beforeEach(() => {
    writeFileSync(victim(), 'mine');
  });
  afterEach(() => {
    expect(readFileSync(victim(), 'utf8')).toBe('mine');
  });

  test.each<[string, () => void]>([
    ['a link to a file', () => symlinkSync(victim(), target())],
    [
      'a link to a proper claim',
      () => {
        write(JSON.stringify(claimOf('b7', { devices: [card] })), path.join(scratch, 'claim'));
        symlinkSync(path.join(scratch, 'claim'), target());
      },
    ],
    ['a link to itself', () => symlinkSync(target(), target())],
    ['a pipe that nobody writes to', () => void execFileSync('mkfifo', [target()])],
    ['a folder', () => mkdirSync(target())],
    ['a socket of its own name', () => write('', path.join(folder, 'device-'))],
    ['a huge file', () => write('x'.repeat(5_000_000))],
    [
      'a claim with a long tail',
      () => write(JSON.stringify(claimOf('b7', { devices: [card] })) + ' '.repeat(40_000)),
    ],
    ['nothing at all in it', () => write('')],
    ['nothing but zeros', () => write(new Uint8Array(4096))],
    [
      'a claim of a card that it does not name',
      () => write(JSON.stringify(claimOf('b7', { devices: ['GPU-other'] }))),
    ],
    ['the last number there is', () => write('rubbish', path.join(folder, `device-${card}-99998`))],
    ['a number too large', () => write('rubbish', path.join(folder, `device-${card}-999999`))],
    ['one number twice, differently written', () => write('rubbish', path.join(folder, `device-${card}-00`))],
    [
      'a link where a new file is written first',
      () => {
        for (const name of [`attempt-x`, `device-${card}-0`])
          symlinkSync(victim(), path.join(folder, `.new-${process.pid}-${'f'.repeat(16)}-${name}`));
      },
    ],
  ])('%s keeps nobody from the card, here and there', async (_, put) => {
    put();
    const hand = await open();
    const launch = onCard();
    hand.start(launch);
    await hand.word('started');
    expect(local.take(onCard())).toContain(launch.uid);
    await hand.end(launch.uid);
    const mine = onCard();
    expect(local.take(mine)).toBeNull();
    hand.start(onCard());
    expect((await hand.word('fault')).text(4)).toBe(mine.uid);
  });

  test('a device whose name is a path stays in the folder', async () => {
    const name = 'MIG-GPU-1/3/../../../0 ü\'"';
    const hand = await open();
    const launch = launchOf({ command: ['sleep', '300'], gpu: '1' }, { devices: [name] });
    hand.start(launch);
    await hand.word('started');
    expect(local.others().devices).toEqual(new Map([[name, [os.userInfo().username]]]));
    const mine = launchOf({ command: ['true'], gpu: '1' }, { devices: [name] });
    expect(local.take(mine)).toContain(launch.uid);
    await hand.end(launch.uid);
    expect(local.take(mine)).toBeNull();
    hand.send('sample');
    await eventually(() => hand.claims().slice(3)).toEqual([name, os.userInfo().username]);
  });

  test.runIf(process.getuid?.() === 0)(
    'what another login writes in our name is no claim of ours',
    async () => {
      for (const [name, controller] of [
        ['GPU-far', 'f'.repeat(16)],
        ['GPU-near', local.controller],
      ] as const) {
        const file = path.join(folder, `device-${name}-0`);
        write(JSON.stringify({ ...claimOf('c7', { devices: [name] }), controller }), file);
        chownSync(file, 65534, 65534);
      }
      const hand = await open();
      const onBoth = launchOf({ command: ['true'], gpu: '2' }, { devices: ['GPU-far', 'GPU-near'] });
      hand.start(onBoth);
      expect((await hand.word('fault')).text(3)).toBe('nobody');
      expect(new Set(hand.claims().slice(3))).toEqual(new Set(['GPU-far', 'nobody', 'GPU-near']));
      expect([...local.others().devices.keys()].sort()).toEqual(['GPU-far', 'GPU-near']);
      expect(local.take({ ...onBoth, devices: ['GPU-near'] })).toContain('claimed by nobody');
      hand.send('strays');
      await hand.word('strays-gone');
      local.sweep(() => false);
      expect(readdirSync(folder).sort()).toEqual(['device-GPU-far-0', 'device-GPU-near-0']);
    },
  );

  test.runIf(process.getuid?.() === 0)('whose a claim is, its file says and not its words', async () => {
    const file = path.join(folder, `device-${card}-0`);
    write(JSON.stringify({ ...claimOf('b7', { devices: [card] }), owner: 'root' }));
    chownSync(file, 65534, 65534);
    const other = path.join(folder, 'device-GPU-2-0');
    write(JSON.stringify({ ...claimOf('b8', { devices: ['GPU-2'] }), owner: 'no/body\n, at all' }), other);
    chownSync(other, 3_999_999, 65534);
    const third = path.join(folder, 'device-GPU-3-0');
    write(JSON.stringify({ ...claimOf('b9', { devices: ['GPU-3'] }), owner: '/ /' }), third);
    chownSync(third, 3_999_999, 65534);
    const hand = await open();
    const expected = [card, 'nobody', 'GPU-2', 'nobodyatall', 'GPU-3', 'uid 3999999'];
    expect(new Set(hand.claims().slice(3))).toEqual(new Set(expected));
    expect(local.others().devices).toEqual(
      new Map([
        [card, ['nobody']],
        ['GPU-2', ['nobodyatall']],
        ['GPU-3', ['uid 3999999']],
      ]),
    );
  });
});

/** Files of any content: both see the same devices as claimed, by the same, and the same use of the machine. */
async function expectAgreement(files: readonly (string | Uint8Array)[]): Promise<number> {
  for (const [index, content] of files.entries())
    writeFileSync(path.join(folder, `device-GPU-${index}-0`), content);
  const hand = await open();
  const { devices, cpuMillicores, memoryBytes } = local.others();
  const told = hand.claims();
  const pairs = new Set(
    told.slice(3).flatMap((word, at) => (at % 2 === 0 ? [`${word} ${told[at + 4] ?? ''}`] : [])),
  );
  // Half a pair of a character that takes two is no text that could be sent.
  const sent = (text: string) => Buffer.from(text).toString('utf8');
  const seen = new Set(
    [...devices].flatMap(([device, owners]) => owners.map((owner) => sent(`${device} ${owner}`))),
  );
  expect(pairs).toEqual(seen);
  expect(Number(told[1])).toBeCloseTo(cpuMillicores, 3);
  expect(Math.abs(Number(told[2]) - memoryBytes)).toBeLessThanOrEqual(memoryBytes * 1e-9);
  expect(hand.errors).toBe('');
  return devices.size;
}

test('a claim with any value of any shape in any place is read alike', async () => {
  const values = [
    ...[
      'null',
      'true',
      'false',
      '0',
      '-0',
      '1',
      '-1',
      '1.5',
      '1.0',
      '1e3',
      '1E-3',
      '1e400',
      '-1e400',
      '01',
      '.5',
    ],
    ...[
      '9007199254740991',
      '9007199254740993',
      '1e18',
      '1.1e18',
      '1e9',
      '1000000000.5',
      '+1',
      '1.',
      '0x1',
      'NaN',
    ],
    ...[
      '""',
      '"x"',
      '"GPU-x"',
      '"a b"',
      '"ü"',
      '"\\u00fc"',
      '"\\ud83d\\ude00"',
      '"\\ud83d"',
      '"\\n"',
      '"\\x"',
      '"\n"',
    ],
    ...[
      `"${'x'.repeat(64)}"`,
      `"${'x'.repeat(65)}"`,
      `"${'x'.repeat(256)}"`,
      `"${'x'.repeat(257)}"`,
      `"${'b'.repeat(16)}"`,
    ],
    ...[`"${'😀'.repeat(256)}"`, `"${'😀'.repeat(257)}"`, `"${'b'.repeat(16)}\\n"`, "'x'", 'x', ''],
    ...[
      '[]',
      '{}',
      '[1]',
      '["x"]',
      '["x",]',
      '[,]',
      '["x" "y"]',
      '["x","x"]',
      '[""]',
      '[["x"]]',
      '[ "x" , "y" ]',
    ],
    ...[
      `["${'x'.repeat(255)}"]`,
      `["${'x'.repeat(256)}"]`,
      `[${Array(64).fill('"y"').join()}]`,
      `[${Array(65).fill('"y"').join()}]`,
    ],
    ...[
      '{"pid":1,"startTicks":1}',
      '{"pid":1}',
      '{"pid":1,"startTicks":null,"more":1}',
      '{"pid":1.5,"startTicks":1}',
    ],
    ...[
      '{"pid":"1","startTicks":1}',
      '{"pid":1,"startTicks":"1"}',
      '{"pid":1,"pid":1,"startTicks":null}',
      '{"pid":0,"startTicks":1}',
    ],
    ...[
      '{"pid":1,"startTicks":1e400}',
      '{"pid":1,"startTicks":-1.5}',
      '{"startTicks":null,"pid":1}',
      '{pid:1,"startTicks":1}',
    ],
  ];
  const files: string[] = [];
  const keys = Object.keys(claimOf('b', { devices: [] }));
  for (const key of keys) {
    for (const value of values) {
      const fields = Object.entries(claimOf(`b${files.length}`, { devices: [`GPU-${files.length}`] }));
      const texts = fields.map(([name, own]) => `"${name}":${name === key ? value : JSON.stringify(own)}`);
      files.push(`{${texts.join()}}`);
    }
  }
  const read = await expectAgreement(files);
  // So that it is not agreed on nothing.
  expect(read).toBeGreaterThan(keys.length);
});

test('a claim of any other form is read alike', async () => {
  const text = (index: number, more: Record<string, unknown> = {}) =>
    JSON.stringify({ ...claimOf(`b${index}`, { devices: [`GPU-${index}`] }), ...more });
  const made: readonly ((good: string) => string | Uint8Array)[] = [
    (good) => good,
    (good) => ` \t\r\n${good}\n\n`,
    (good) => `\u00a0${good}`,
    (good) => `\ufeff${good}`,
    (good) => `${good}${good}`,
    (good) => `${good},`,
    (good) => `[${good}]`,
    (good) => good.slice(0, -1),
    (good) => good.slice(1),
    (good) => good.replace('{', '{,'),
    (good) => good.replace(/}$/, ',}'),
    (good) => good.replace('"version"', '"versio\\u006e"'),
    (good) => good.replace('"version"', 'version'),
    (good) => good.replace('"version":1', '"version":2,"version":1'),
    (good) => good.replace('"version":1', '"version":1,"version":2'),
    (good) => good.replace('"owner":"somebody"', '"owner":"\\u0000"'),
    (good) => good.replace('somebody', 'some\u0000body'),
    (good) => good.replace(/}$/, ',"more":1}'),
    (good) => good.replace('"container":false', '"container":false,"container":true'),
    (good) => good.replace(/"owner":[^,]*,/, ''),
    (good) => good.replaceAll(',', ' , ').replaceAll(':', '\n:\t'),
    (good) => good.replaceAll('/', '\\/'),
    (good) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(good) as object).reverse())),
    (good) => Buffer.from(good.replace('somebody', 'b\u00f6dy'), 'latin1'),
    (good) => Buffer.from(good.replace('GPU', 'G\u00ffU'), 'latin1'),
    (good) => Buffer.from(good, 'utf16le'),
    () => '['.repeat(30_000),
    () => '{"a":'.repeat(6000),
    () => `"${'\\'.repeat(30_000)}`,
    () => '1'.repeat(30_000),
    () => 'null',
  ];
  const read = await expectAgreement(made.map((of, index) => of(text(index))));
  expect(read).toBeGreaterThan(6);
});

test('a claim that is damaged by chance is read alike', async () => {
  let state = 20261130;
  const random = (below: number): number => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pieces = [
    '"',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    '\\',
    '0',
    '9',
    '-',
    '.',
    'e',
    ' ',
    '\0',
    '\u00ff',
    'null',
    'true',
    'é',
  ];
  const files = Array.from({ length: 1500 }, (_, index) => {
    let bytes = Buffer.from(JSON.stringify(claimOf(`b${index}`, { devices: [`GPU-${index}`] })));
    for (let times = random(3); times >= 0; times -= 1) {
      const at = random(bytes.length);
      const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
      const piece = Buffer.from(pieces[random(pieces.length)] ?? '', random(2) === 0 ? 'latin1' : 'utf8');
      const cut = tail.subarray(random(3));
      bytes = random(8) === 0 ? head : Buffer.concat(random(2) === 0 ? [head, cut] : [head, piece, cut]);
    }
    return bytes;
  });
  expect(await expectAgreement(files)).toBeGreaterThan(50);
});
