/** What the far hand does of its own accord, spoken to without SSH between. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { eventually } from '../../../../test/harness/eventually.js';
import { hangingFolder, hangingObstacle } from '../../../../test/harness/hanging-folder.js';
import { LocalHand, type LocalHandOptions } from '../../../../test/harness/local-hand.js';
import { capture, NvidiaStub } from '../../../../test/harness/nvidia-stub.js';
import { displayVendors } from '../../../machine/gpu-absence.js';
import { readProcess } from '../../../machine/processes.js';
import { cacheFolders, cachesBeside } from '../docker/container-environment.js';
import { absentVendors } from './gpu-text.js';

let scratch: string;
const hands: LocalHand[] = [];

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-far-hand-'));
});
afterEach(async () => {
  for (const hand of hands.splice(0)) await hand.close();
  rmSync(scratch, { recursive: true });
});

async function open(more: Partial<LocalHandOptions> = {}): Promise<LocalHand> {
  const hand = await LocalHand.open({ home: scratch, claims: 'none', controller: 'f'.repeat(16), ...more });
  hands.push(hand);
  return hand;
}

const at = (...names: string[]) => path.join(scratch, 'attempts', ...names);

function age(...files: string[]): void {
  const nineDaysAgo = new Date(Date.now() - 9 * 86_400_000);
  for (const file of files) if (existsSync(file)) utimesSync(file, nineDaysAgo, nineDaysAgo);
}

test('the caches of containers lie where the Engine is told that they do, also where the folder of attempts is a link', async () => {
  const elsewhere = path.join(scratch, 'disk', 'elsewhere');
  mkdirSync(elsewhere, { recursive: true });
  symlinkSync(elsewhere, path.join(scratch, 'attempts'));
  const hand = await open();
  const work = (await hand.prepare(launchOf({ command: ['true'] }))).text(1);
  expect(cacheFolders(cachesBeside(work)).filter((folder) => !existsSync(folder))).toEqual([]);
});

test('the folder of a container that lives is kept, however old; that of one that is over goes once nobody wants it', async () => {
  const before = await open();
  const inImage = () => {
    const launch = launchOf({ command: ['true'] });
    return { ...launch, spec: { ...launch.spec, image: 'an-image' } };
  };
  const [live, over] = [inImage(), inImage()];
  for (const launch of [live, over])
    expect((await before.prepare(launch)).text(1)).toBe(at(launch.uid, 'work'));
  await before.kill();
  const unstarted = 'abcdef0123456789';
  mkdirSync(at(unstarted));
  for (const { uid } of [live, over]) age(at(uid, 'container'), at(uid));
  age(at(unstarted));
  const hand = await open();
  const old = async () => {
    const word = await hand.word('old');
    hand.said.splice(hand.said.indexOf(word), 1);
    return Array.from({ length: word.count }, (_, index) => word.text(index));
  };
  // Until it is told which live, one that has a container may be either.
  expect(await old()).toEqual([unstarted]);
  hand.send('contained', live.uid);
  expect((await old()).sort()).toEqual([unstarted, over.uid].sort());
  // Nothing goes before the controller was asked, and nothing that lives or is young whatever it says.
  expect([unstarted, over.uid].map((uid) => existsSync(at(uid)))).toEqual([true, true]);
  hand.send('forget', over.uid, live.uid, '0123456789abcdef');
  await hand.word('pruned');
  expect([unstarted, over.uid, live.uid].map((uid) => existsSync(at(uid)))).toEqual([true, false, true]);
  hand.send('release', live.uid);
  hand.send('ping', '1');
  await hand.word('pong');
  // Its end counts, not its beginning.
  expect(Date.now() - statSync(at(live.uid, 'container')).mtimeMs).toBeLessThan(60_000);
});

test('a Docker Engine that says nothing keeps no folder from the next connection', async () => {
  const socket = path.join(scratch, 'docker.sock');
  const silent: net.Socket[] = [];
  const server = net.createServer((each) => silent.push(each));
  server.listen(socket);
  await once(server, 'listening');
  try {
    const before = await open({ env: { DOCKER_HOST: `unix://${socket}` } });
    before.send('docker');
    await eventually(() => silent.length).toBe(1);
    await before.kill();
    const next = await open();
    expect(next.said.map(({ kind }) => kind)).not.toContain('unusable');
  } finally {
    for (const each of silent) each.destroy();
    server.close();
  }
});

describe('a stop whose grace outlives its hand', () => {
  const told = () => path.join(scratch, 'told');
  const gate = () => path.join(scratch, 'gate');
  /** Notes each signal, and takes its time. */
  const saving = () =>
    launchOf({
      command: [
        'sh',
        '-c',
        `trap 'echo TERM >>${told()}' TERM; : >${scratch}/ready; until [ -e ${gate()} ]; do sleep 0.02; done; exit 7`,
      ],
    });
  const stopped = async () => {
    const launch = saving();
    const hand = await open();
    hand.start(launch);
    await eventually(() => existsSync(path.join(scratch, 'ready'))).toBe(true);
    const { uid } = launch;
    hand.send('stop', uid, 'TERM', '60000', '');
    await eventually(() => existsSync(told()) && existsSync(at(uid, 'sent'))).toBe(true);
    await hand.kill();
    return launch;
  };

  test('is told once, and known to have been', async () => {
    const launch = await stopped();
    const hand = await open();
    hand.send('stop', launch.uid, 'TERM', '30000', '');
    hand.send('ping', '1');
    await hand.word('pong');
    writeFileSync(gate(), '');
    const gone = await hand.word('gone');
    expect([gone.text(3), gone.text(9)]).toEqual(['7', 'SIGTERM']);
    expect(readFileSync(told(), 'utf8')).toBe('TERM\n');
  });

  test('is told to a command that its supervisor was only about to make', async () => {
    const launch = saving();
    const hand = await open();
    const [begun, fork] = [path.join(scratch, 'begun'), path.join(scratch, 'fork')];
    const text = readFileSync(at('supervisor'), 'utf8');
    writeFileSync(
      at('supervisor'),
      text.replace('  (exec "$@"', `  : >${begun}; until [ -e ${fork} ]; do :; done\n  (exec "$@"`),
    );
    hand.start(launch);
    await eventually(() => existsSync(begun)).toBe(true);
    hand.send('stop', launch.uid, 'TERM', '60000', '');
    for (const number of ['1', '2']) {
      hand.send('ping', number);
      await hand.word('pong', (word) => word.text(0) === number);
    }
    await hand.kill();
    writeFileSync(fork, '');
    await eventually(() => existsSync(path.join(scratch, 'ready'))).toBe(true);
    const next = await open();
    next.send('stop', launch.uid, 'TERM', '60000', '');
    await eventually(() => existsSync(told())).toBe(true);
    writeFileSync(gate(), '');
    const gone = await next.word('gone');
    expect([gone.text(3), gone.text(9)]).toEqual(['7', 'SIGTERM']);
    expect(readFileSync(told(), 'utf8')).toBe('TERM\n');
  });

  test('is known to have ended what ended meanwhile', async () => {
    const launch = await stopped();
    writeFileSync(gate(), '');
    await eventually(() => readFileSync(at(launch.uid, 'claim'), 'utf8').startsWith('exit 7')).toBe(true);
    const hand = await open();
    hand.send('stop', launch.uid, 'TERM', '30000', '');
    const gone = await hand.word('gone');
    expect([gone.text(3), gone.text(9)]).toEqual(['7', 'SIGTERM']);
  });
});

test('what cannot be asked as no more processes may be is answered all the same', async () => {
  const hand = await open({ mostFiles: 9 });
  hand.send('tool', '7', '10', '10', '-L');
  const tool = await hand.word('tool');
  expect([tool.text(0), tool.text(1)]).toEqual(['7', 'failed']);
  expect(tool.text(2)).not.toBe('');
  hand.send('room', '8', '/');
  expect((await hand.word('room')).text(0)).toBe('8');
  // Which is not that nothing is there.
  hand.send('real', '9', '/');
  const real = await hand.word('real');
  expect([0, 1, 2].map((index) => real.text(index))).toEqual(['9', '', tool.text(2)]);
});

test("processes on cards are told with their attempt, whatever environment they have, and strangers' with their user", async () => {
  const stub = new NvidiaStub('rtx-3060-driver-570.xml');
  const nameless = 54_321;
  const stranger = spawn('sleep', ['300'], process.getuid?.() === 0 ? { uid: nameless } : {});
  try {
    const hand = await open({ env: { PATH: `${stub.folder}:${process.env['PATH'] ?? ''}` } });
    const note = path.join(scratch, 'pids');
    const line = `sh -c 'echo $$ >>${note}; exec sleep 300'`;
    const launch = launchOf({ command: ['sh', '-c', `env -i ${line} & env -i setsid ${line} & wait`] });
    hand.start(launch);
    const pids = () => (existsSync(note) ? readFileSync(note, 'utf8').split('\n').slice(0, -1) : []);
    await eventually(() => pids().length).toBe(2);
    const all = [String(stranger.pid), ...pids()];
    stub.show(all.map((pid) => `<pid>${pid}</pid>`).join(''));
    hand.send('tool', '7', '10', '60', '-q', '-x');
    const word = await hand.word('tool');
    const user = process.getuid?.() === 0 ? `uid ${nameless}` : os.userInfo().username;
    const own = [launch.uid, os.userInfo().username];
    const told = [all[0], '', user, all[1], ...own, all[2], ...own];
    expect(Array.from({ length: word.count - 3 }, (_, index) => word.text(index + 3))).toEqual(told);
    hand.send('stop', launch.uid, 'TERM', '5000', '');
    await hand.word('gone');
    expect(pids().map((pid) => readProcess(Number(pid)))).toEqual([null, null]);
    expect(stranger.exitCode).toBeNull();
  } finally {
    stranger.kill('SIGKILL');
    stub.dispose();
  }
});

test('a tool that takes its time is told to be late, goes on, and what it says then is told as well', async () => {
  const stub = new NvidiaStub('rtx-3060-driver-570.xml');
  try {
    const hand = await open({ env: { PATH: `${stub.folder}:${process.env['PATH'] ?? ''}` } });
    stub.put('slow', '');
    hand.send('tool', '7', '1', '60', '-q', '-x');
    const told = (id: string, outcome: string) =>
      hand.word('tool', (word) => word.text(0) === id && word.text(1) === outcome);
    await told('7', 'late');
    hand.send('tool', '8', '10', '10', '-L');
    await told('8', 'hangs');
    stub.take('slow');
    expect((await told('7', 'done')).text(2)).toBe(capture('rtx-3060-driver-570.xml'));
  } finally {
    stub.dispose();
  }
});

test('without the tool for cards it says who made what displays or computes there', async () => {
  const folders = (process.env['PATH'] ?? '')
    .split(':')
    .filter((each) => !existsSync(path.join(each, 'nvidia-smi')));
  const hand = await open({ env: { PATH: folders.join(':') } });
  hand.send('tool', '7', '10', '60', '-q', '-x');
  hand.send('gpus');
  const [tool, whole] = [await hand.word('tool'), await hand.word('gpus')];
  expect(absentVendors(tool.text(2))).toEqual(displayVendors());
  expect(absentVendors(whole.text(1))).toEqual(displayVendors());
});

test('a file of that name is had only when it has all its bytes', async () => {
  const hand = await open();
  const content = Buffer.from('print(6 * 7)\n');
  const hash = createHash('sha256').update(content).digest('hex');
  const empty = createHash('sha256').digest('hex');
  hand.send('put', hash, content);
  hand.send('put', empty, '');
  const lacking = async () => {
    hand.said.length = 0;
    hand.send('has', hash, String(content.length), empty, '0');
    const word = await hand.word('lacks');
    return Array.from({ length: word.count }, (_, index) => word.text(index));
  };
  expect(await lacking()).toEqual([]);
  // As after a power cut.
  truncateSync(at('.files', hash));
  expect(await lacking()).toEqual([hash]);
  expect(hand.errors).toBe('');
});

test('marks of a log that grows for weeks are thinned, the first and the last kept in order', async () => {
  const hand = await open();
  const launch = launchOf({ command: ['sh', '-c', 'echo one; exec sleep 300'] });
  mkdirSync(at(launch.uid), { recursive: true });
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index} 0 ${index}\n`);
  writeFileSync(at(launch.uid, 'marks'), lines.join(''));
  hand.send('watch', launch.uid, '1');
  hand.start(launch);
  const marks = () => readFileSync(at(launch.uid, 'marks'), 'latin1').trim().split('\n');
  await eventually(() => marks().length).toBeLessThanOrEqual(10_001);
  await eventually(() => marks().at(-1)).toMatch(/^\d{13} 4 0$/);
  expect(marks().length).toBeGreaterThan(4000);
  const times = marks().map((line) => Number(line.split(' ')[0]));
  expect(times).toEqual(times.toSorted((left, right) => left - right));
});

test.skipIf(hangingObstacle !== null)(
  'a start whose folder does not answer in time is given up, with its cards, and the next is made',
  async () => {
    const folder = path.join(scratch, 'hangs');
    const claims = path.join(scratch, 'claims');
    mkdirSync(folder);
    const hangs = await hangingFolder(folder);
    try {
      const hand = await open({ patience: 1, claims });
      const stuck = launchOf(
        { command: ['true'], workingDirectory: folder, gpu: '1' },
        { devices: ['GPU-1'] },
      );
      hand.start(stuck);
      const next = launchOf({ command: ['true'] });
      hand.start(next);
      expect((await hand.word('gone')).text(0)).toBe(next.uid);
      expect(readdirSync(claims)).toHaveLength(2);
      const fault = await hand.word('fault');
      expect([0, 1, 2].map((index) => fault.text(index))).toEqual([stuck.uid, 'silent', '1']);
      expect(readdirSync(claims)).toEqual([]);
      hand.send('real', '7', folder);
      expect((await hand.word('real')).text(2)).toBe('late');
    } finally {
      await hangs.release();
    }
  },
);
