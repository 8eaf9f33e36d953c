import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { listenCommand, startRelay } from './listen-relay.js';

const started: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function relayOf(command: string): ChildProcessWithoutNullStreams {
  const child = spawn('sh', ['-c', listenCommand(command)], { stdio: 'pipe' });
  started.push(child);
  startRelay(child);
  return child;
}

it('passes on both ways, and ends when the program has ended and all is said', async () => {
  const child = relayOf('head -c 300000');
  const said: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => said.push(piece));
  for (let piece = 0; piece < 10; piece += 1) child.stdin.write(String(piece).repeat(30_000));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(0);
  const expected = Array.from({ length: 10 }, (_, piece) => String(piece).repeat(30_000)).join('');
  expect(Buffer.concat(said).toString()).toBe(expected);
});

it('lets go of a program that says more than is taken in, which never waits', async () => {
  const child = relayOf('yes');
  // Nobody reads what it says: the pipe fills, then what may wait.
  child.stdout.pause();
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
});

it('ends with the connection it was started for', async () => {
  const child = relayOf('cat');
  child.stdin.write('here');
  expect(String(await once(child.stdout, 'data'))).toBe('here');
  child.stdin.end();
  await once(child, 'close');
});
