/** A registry of the test's own on a loopback port, and a way to it that can be held up in the middle of an image. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const program = 'docker-registry';
export const noRegistry = spawnSync(program, ['--version']).error !== undefined;

export interface OwnRegistry {
  /** As image names begin: host and port. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Of the user `tester` with the password `right`: the registry takes bcrypt alone. */
const tester = 'tester:$2y$05$abcdefghijklmnopqrstuu8xaCxxL82bnl.UY74PMksDxIJShppPC\n';

/** Several may serve one folder; `locked` wants a login. */
export async function startRegistry(folder: string, locked: boolean): Promise<OwnRegistry> {
  const file = (name: string) => path.join(folder, `${locked ? 'locked' : 'open'}-${name}`);
  writeFileSync(file('users'), tester);
  const config = {
    version: '0.1',
    log: { level: 'info', formatter: 'json', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: path.join(folder, 'images') } },
    http: { addr: '127.0.0.1:0', secret: 'of the test' },
    ...(locked ? { auth: { htpasswd: { realm: 'lab', path: file('users') } } } : {}),
  };
  // What is JSON is YAML.
  writeFileSync(file('config.yml'), JSON.stringify(config));
  const child = spawn(program, ['serve', file('config.yml')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  let said = '';
  const address = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (piece: Buffer) => {
      said = `${said}${piece.toString()}`.slice(-10_000);
      const found = /listening on (127\.0\.0\.1:\d+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${program} ended: ${said}`)));
  });
  return {
    address,
    stop: async () => {
      child.kill();
      await gone;
    },
  };
}

export interface SlowWay {
  readonly address: string;
  /** What is held up goes on, and nothing is held up any more. */
  release(): void;
  close(): void;
}

/** To the same registry; after so many bytes of its answers no more come until it is released. */
export async function slowWay(address: string, bytes: number): Promise<SlowWay> {
  const [host = '', port = ''] = address.split(':');
  const open = new Set<net.Socket>();
  let left = bytes;
  let released = false;
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), host);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (piece) => {
      near.write(piece);
      left -= piece.length;
      if (left <= 0 && !released) far.pause();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = server.address();
  return {
    address: `127.0.0.1:${own !== null && typeof own === 'object' ? own.port : 0}`,
    release: () => {
      released = true;
      for (const socket of open) socket.resume();
    },
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
