import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import { DockerExchange, exchangeCommand } from './docker-exchange.js';

let folder = '';
const exchanges: DockerExchange[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-exchange-'));
});
afterEach(() => {
  for (const exchange of exchanges.splice(0)) exchange.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As the shell of a machine would run it; `before`: what its start files print. */
function exchangeOf(command: string, before = ''): DockerExchange {
  const child = spawn(
    'sh',
    ['-c', `cd ${folder}; export IN=${folder}; ${before}${exchangeCommand(command)}`],
    {
      stdio: 'pipe',
      detached: true,
    },
  );
  const exchange = new DockerExchange(child);
  exchanges.push(exchange);
  return exchange;
}

/** Pids of what runs with the folder for its own. */
function running(): number[] {
  const own = (pid: string): boolean => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return !/\) [ZX] /.test(stat) && environment.includes(folder);
    } catch {
      return false; // ended meanwhile
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && own(name))
    .map(Number);
}

const writeScript = (name: string, script: string): void => {
  writeFileSync(path.join(folder, name), script);
};

const lettersOf = (letter: string, count: number): Buffer => Buffer.alloc(count, letter);

it('carries many streams at once, each whole both ways', async () => {
  const exchange = exchangeOf('cat', 'echo Welcome to this machine; ');
  const sizes = Array.from({ length: 40 }, (_, index) => 1 + index * 31_337);
  const letter = (index: number): string => String.fromCharCode(65 + index);
  const back = await Promise.all(
    sizes.map(async (size, index) => {
      // What is listened to has to be short beside all the others.
      const stream = exchange.open(size < 200_000);
      stream.end(lettersOf(letter(index), size));
      return buffer(stream);
    }),
  );
  expect(back.map((each) => each.length)).toEqual(sizes);
  back.forEach((each, index) => expect(each.equals(lettersOf(letter(index), each.length))).toBe(true));
});

it('carries more than a login may have files open, as far as the system lets it have more', async () => {
  writeScript('begin.sh', 'touch "begun-$$"; exec cat');
  const exchange = exchangeOf('sh begin.sh', 'ulimit -S -n 60; ');
  const streams = Array.from({ length: 50 }, () => exchange.open(false));
  const said = Promise.all(streams.map((stream) => text(stream)));
  const begun = () => readdirSync(folder).filter((name) => name.startsWith('begun-')).length;
  await Promise.race([said, eventually(() => begun()).toBe(50)]);
  for (const stream of streams) stream.end('done');
  expect(await said).toEqual(streams.map(() => 'done'));
});

it('holds up no stream for another that nobody reads, and has no more of that than its window', async () => {
  const exchange = exchangeOf('sh count.sh');
  const script = 'read -r count; head -c "$count" /dev/zero; echo; touch "said-$count"';
  writeScript('count.sh', script);
  const unread = exchange.open(false);
  unread.write('50000000\n');
  const read = exchange.open(false);
  read.end('3000000\n');
  expect((await buffer(read)).length).toBe(3_000_001);
  expect(existsSync(path.join(folder, 'said-50000000'))).toBe(false);
  expect((await buffer(unread)).length).toBe(50_000_001);
});

it('takes no more for a program that does not read than its window, and goes on when it does', async () => {
  writeScript('late.sh', 'echo here; until test -e gate; do sleep 0.02; done; wc -c');
  const exchange = exchangeOf('sh late.sh');
  const stream = exchange.open(false);
  let sent = false;
  stream.write(lettersOf('x', 2_000_000), () => (sent = true));
  const other = exchange.open(false);
  other.end('y');
  // What the other was sent went behind all that the first could send.
  expect(String(await once(other, 'data'))).toBe('here\n');
  expect(sent).toBe(false);
  writeScript('gate', '');
  expect((await text(other)).trim()).toBe('1');
  stream.end();
  expect((await text(stream)).split(/\s+/)).toEqual(['here', '2000000', '']);
  expect(sent).toBe(true);
});

it('lets go of what is listened to and not read, which never waits', async () => {
  writeScript('long.sh', 'touch begun; head -c 3000000 /dev/zero; exec sleep 300');
  const exchange = exchangeOf('sh long.sh');
  const heard = exchange.open(true);
  // Nobody reads it.
  heard.pause();
  await eventually(() => existsSync(path.join(folder, 'begun'))).toBe(true);
  // All but the exchange itself.
  await eventually(() => running().length).toBe(1);
  heard.resume();
  await once(heard, 'end');
});

it('says why a stream failed, and ends well what ended well', async () => {
  writeScript('fail.sh', 'read -r code; echo "no Engine there: $code" >&2; exit "$code"');
  const exchange = exchangeOf('sh fail.sh');
  const failing = exchange.open(false);
  failing.end('3\n');
  await expect(text(failing)).rejects.toThrow('Docker there could not be reached (no Engine there: 3).');
  const fine = exchange.open(false);
  fine.end('0\n');
  expect(await text(fine)).toBe('');
});

it('names a program that is not there', async () => {
  const stream = exchangeOf('no-such-program').open(false);
  await expect(text(stream)).rejects.toThrow('no-such-program: No such file or directory');
});

it('ends what a stream runs with the stream, and everything with the connection', async () => {
  writeScript('stay.sh', 'echo here; exec sleep 300');
  const exchange = exchangeOf('sh stay.sh');
  const begun = async (): Promise<Duplex> => {
    const stream = exchange.open(false);
    expect(String(await once(stream, 'data'))).toBe('here\n');
    return stream;
  };
  const first = await begun();
  const second = await begun();
  const count = running().length;
  first.destroy();
  await eventually(() => running().length).toBe(count - 1);
  const failed = once(second, 'error');
  exchange.close();
  expect(String((await failed)[0])).toContain('the connection was closed');
  await eventually(() => running()).toEqual([]);
  expect(exchange.isOpen).toBe(false);
});

it('fails each stream with what its own connection said as it broke', async () => {
  const child = spawn('sh', ['-c', 'echo "Session open refused by peer" >&2; exit 255'], { stdio: 'pipe' });
  const exchange = new DockerExchange(child);
  exchanges.push(exchange);
  await expect(text(exchange.open(false))).rejects.toThrow('(Session open refused by peer)');
});

it("asks the login's own Engine where no other can be used and no setting names one", async () => {
  const usual = '/var/run/docker.sock';
  const own = path.join(folder, 'docker.sock');
  const server = net.createServer().listen(own);
  await once(server, 'listening');
  writeScript('said.sh', 'echo "host $DOCKER_HOST"');
  const named = (before: string): Promise<string> =>
    text(exchangeOf('sh said.sh', `unset DOCKER_HOST DOCKER_CONTEXT; ${before}`).open(false));
  try {
    const here = `export XDG_RUNTIME_DIR=${folder} DOCKER_CONFIG=${folder}; `;
    const found = existsSync(usual) ? 'host \n' : `host unix://${own}\n`;
    expect(await named(here)).toBe(found);
    expect(await named(`${here}export DOCKER_HOST=tcp://other:1; `)).toBe('host tcp://other:1\n');
    writeFileSync(path.join(folder, 'config.json'), '{"auths":{},"currentContext": "default"}');
    expect(await named(here)).toBe(found);
    writeFileSync(path.join(folder, 'config.json'), '{"auths":{},"currentContext": "rootless"}');
    expect(await named(here)).toBe('host \n');
  } finally {
    server.close();
    await once(server, 'close');
  }
});
