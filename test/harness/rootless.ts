/**
 * A rootless Docker Engine of a user that exists in its own view of the machine alone: no user, no subordinate numbers and no network
 * of the machine are touched. The user's number has no name outside, as where a network's directory of users is away.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { answers, engineObstacle, importImage } from '../../scripts/lib/engine.mjs';

const run = promisify(execFile);
const userId = 64_900;
const name = 'iris-rootless';
const longMs = 120_000;

const lacks = (program: string) => spawnSync('which', [program]).status !== 0;
const missing = ['rootlesskit', 'newuidmap', 'unshare', 'setpriv', 'ip'].filter(lacks);
const obstacle =
  engineObstacle() ??
  (missing.length === 0 ? null : `${missing.join(', ')} not found (Debian: rootlesskit uidmap)`);
export const noRootless = obstacle !== null;
export const withRootless = (of: string): string =>
  obstacle === null ? of : `${of} (left out: ${obstacle})`;

export interface Rootless {
  readonly userId: number;
  readonly home: string;
  readonly socket: string;
  /** It can make no control groups, as on a system with those of version 1. */
  readonly groupless: boolean;
  /** `irisctl` as that user, whose Engine it has to find by itself. */
  irisctl(...words: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  stop(): Promise<void>;
}

const inside = `set -e
mount --make-rprivate /
for each in passwd group subuid subgid; do
  [ -e /etc/$each ] || : >/etc/$each
  mount --bind "$1/etc/$each" /etc/$each
done
exec setpriv --reuid=${userId} --regid=${userId} --clear-groups rootlesskit --net=host --copy-up=/etc --copy-up=/run \\
  --propagation=rslave --state-dir="$1/run/kit" unshare -n sh -c '
    rm -f /run/docker /run/containerd /run/xtables.lock
    ip link set lo up
    exec dockerd --rootless --bridge=none --iptables=false --ip6tables=false --ip-forward=false --log-level=warn \\
      --data-root "$1/data" --exec-root "$1/run/exec" --pidfile "$1/run/docker.pid" --host "unix://$1/run/docker.sock" \\
      --config-file "$1/home/daemon.json"' sh "$1"
`;

export async function startRootless(): Promise<Rootless> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-rl-'));
  chmodSync(folder, 0o755);
  const place = (...parts: string[]) => path.join(folder, ...parts);
  for (const part of ['home', 'run', 'data', 'etc']) {
    mkdirSync(place(part), { mode: part === 'etc' ? 0o755 : 0o700 });
    if (part !== 'etc') chownSync(place(part), userId, userId);
  }
  const known = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  writeFileSync(
    place('etc', 'passwd'),
    `${known('/etc/passwd')}${name}:x:${userId}:${userId}::${place('home')}:/bin/sh\n`,
  );
  writeFileSync(place('etc', 'group'), `${known('/etc/group')}${name}:x:${userId}:\n`);
  for (const file of ['subuid', 'subgid']) writeFileSync(place('etc', file), `${name}:200000:65536\n`);
  writeFileSync(place('home', 'daemon.json'), '{}');
  const environment = {
    HOME: place('home'),
    XDG_RUNTIME_DIR: place('run'),
    IRIS_DESKTOP_HOME: place('home', 'iris'),
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  };
  const log = place('dockerd.log');
  const file = openSync(log, 'a');
  const child = spawn('unshare', ['-m', 'sh', '-c', inside, 'sh', folder], {
    stdio: ['ignore', file, file],
    env: environment,
    detached: true,
  });
  const gone = once(child, 'exit');
  const socket = place('run', 'docker.sock');
  const docker = async (...words: string[]) =>
    (
      await run('docker', ['--host', `unix://${socket}`, ...words], {
        env: { ...environment, DOCKER_CONFIG: place('config') },
      })
    ).stdout;
  const stop = async () => {
    const daemon = Number(known(place('run', 'docker.pid')));
    if (daemon > 1) process.kill(daemon, 'SIGTERM');
    else child.kill('SIGTERM');
    await gone;
    await run('rm', ['-rf', folder]);
  };
  const deadline = Date.now() + longMs;
  while (!(await answers(socket))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      const said = known(log).slice(-3000);
      if (child.exitCode === null) await stop();
      throw new Error(`The rootless dockerd did not start:\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await importImage(folder, docker);
  // What the checkout holds is read by right, wherever it is kept.
  const asUser = [`--reuid=${userId}`, `--regid=${userId}`, '--clear-groups'];
  const mayRead = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
  const cli = path.resolve(import.meta.dirname, '../../out/main/cli.js');
  const irisctl: Rootless['irisctl'] = async (...words) => {
    const given = [...asUser, ...mayRead, process.execPath, cli, ...words];
    const child = spawn('setpriv', given, {
      env: environment,
      cwd: place('home'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { out: '', err: '' };
    child.stdout.on('data', (piece: Buffer) => (said.out += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (said.err += piece.toString()));
    await once(child, 'close');
    return { code: child.exitCode ?? -1, ...said };
  };
  const groupless = (await docker('info', '--format', '{{.CgroupDriver}}')).trim() === 'none';
  return { userId, home: place('home'), socket, groupless, irisctl, stop };
}
