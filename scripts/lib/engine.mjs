/**
 * A Docker Engine of our own, beside any that is there: own socket, data, state and pid file below one folder, and one image made
 * from Debian's static busybox. Ended by its pid.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasProgram } from './run.mjs';

const execute = promisify(execFile);

/** The image every Engine of ours has. */
export const engineImage = 'iris-test:1';

/** Why no Engine can be started here; null when one can. */
export function engineObstacle() {
  if (process.platform !== 'linux') return 'a Docker Engine is started on Linux only';
  if (process.getuid?.() !== 0) return 'only root can start a Docker Engine';
  const missing = ['dockerd', 'docker', 'busybox', 'tar'].filter(
    (name) => !hasProgram(name) && !existsSync(`/usr/sbin/${name}`),
  );
  return missing.length === 0 ? null : `${missing.join(', ')} not found (Debian: docker.io busybox-static)`;
}

/** @typedef {{folder: string, socket: string, pid: () => number, docker: (...args: string[]) => Promise<string>, clear: () => Promise<void>, kill: () => Promise<void>, fall: () => Promise<void>, quit: () => Promise<void>, start: () => Promise<void>, stop: () => Promise<void>}} OwnEngine */

/**
 * @param {string} folder of its own; what it holds is removed at the end
 * @param {readonly string[]} [more] further arguments of dockerd
 * @param {string} [programs] folder of programs that dockerd finds before others
 * @returns {Promise<OwnEngine>}
 */
export async function startEngine(folder, more = [], programs = '/usr/local/bin') {
  const socket = join(folder, 'docker.sock');
  /** @type {import('node:child_process').ChildProcess | null} */
  let daemon = null;
  /** @type {Promise<void>} */
  let gone = Promise.resolve();

  const lives = () => daemon !== null && daemon.exitCode === null && daemon.signalCode === null;

  async function start() {
    if (lives()) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // One that was killed leaves its file; another process may have its number now.
    rmSync(join(folder, 'docker.pid'), { force: true });
    // Not the machine's own settings.
    writeFileSync(join(folder, 'daemon.json'), '{}');
    const log = openSync(join(folder, 'dockerd.log'), 'a');
    const child = spawn(
      'dockerd',
      [
        ...[
          '--host',
          `unix://${socket}`,
          '--data-root',
          join(folder, 'data'),
          '--exec-root',
          join(folder, 'exec'),
        ],
        ...['--pidfile', join(folder, 'docker.pid'), '--config-file', join(folder, 'daemon.json')],
        // Nothing of the machine's network is touched: containers use the machine's own.
        ...[
          '--bridge=none',
          '--iptables=false',
          '--ip6tables=false',
          '--ip-forward=false',
          '--log-level=warn',
        ],
        ...more,
      ],
      {
        stdio: ['ignore', log, log],
        env: { ...process.env, PATH: `${programs}:${process.env.PATH}:/usr/sbin:/sbin` },
        // A terminal's Ctrl-C is for whoever started it, who then ends it in order.
        detached: true,
      },
    );
    daemon = child;
    gone = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    const deadline = Date.now() + 60_000;
    while (!(await answers(socket))) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
        throw new Error(
          `dockerd did not start:\n${readFileSync(join(folder, 'dockerd.log'), 'utf8').slice(-3000)}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** @param {string[]} args */
  async function docker(...args) {
    const { stdout } = await execute('docker', ['--host', `unix://${socket}`, ...args], {
      env: { ...process.env, DOCKER_CONFIG: join(folder, 'config') },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  async function kill() {
    // With its containerd, whichever falls first: one that outlives the other by a moment holds up the next start.
    const helper = Number(readFileSync(join(folder, 'exec', 'containerd', 'containerd.pid'), 'utf8'));
    const alive = () => existsSync(`/proc/${helper}/exe`);
    daemon?.kill('SIGKILL');
    if (helper > 1 && alive()) process.kill(helper, 'SIGKILL');
    await gone;
    while (helper > 1 && alive()) await new Promise((resolve) => setTimeout(resolve, 20));
    rmSync(join(folder, 'exec', 'containerd', 'containerd.pid'), { force: true });
  }

  /** As when its machine loses its power: what it holds of its containers' output goes with it, and nothing later is written. */
  async function fall() {
    daemon?.kill('SIGKILL');
    endLeft(join(folder, 'exec'));
    await kill();
  }

  /** In order, as a system that restarts it does: what runs is ended first, or goes on with `--live-restore`. */
  async function quit() {
    daemon?.kill('SIGTERM');
    await gone;
  }

  /** Some may be on their way already, removed by whoever made them. */
  async function clear() {
    for (;;) {
      const ids = (await docker('ps', '-aq')).split('\n').filter(Boolean);
      if (ids.length === 0) return;
      await docker('rm', '-f', ...ids).catch(() => undefined);
    }
  }

  async function stop() {
    // Containers that outlived a killed daemon are ended by the next one.
    await start();
    await clear();
    await quit();
    endLeft(join(folder, 'exec'));
    // It leaves the mount of the network it shared with its containers.
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .flatMap((line) => line.split(' ')[4] ?? [])
      .filter((mount) => mount.startsWith(`${folder}/`));
    for (const mount of mounts.reverse()) await execute('umount', [mount]);
    await execute('rm', ['-rf', folder]);
  }

  await start();
  try {
    await importImage(folder, docker);
  } catch (error) {
    await stop();
    throw error;
  }
  return { folder, socket, pid: () => daemon?.pid ?? 0, docker, clear, kill, fall, quit, start, stop };
}

/** @param {string} socket @returns {Promise<boolean>} */
export function answers(socket) {
  return new Promise((resolve) => {
    const asked = request({ socketPath: socket, path: '/_ping', timeout: 2000 }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200));
    });
    asked.on('error', () => resolve(false));
    asked.on('timeout', () => asked.destroy());
    asked.end();
  });
}

/** @param {string} folder @param {(...args: string[]) => Promise<string>} docker */
export async function importImage(folder, docker) {
  const root = join(folder, 'image');
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const name of ['tmp', 'etc', 'root']) mkdirSync(join(root, name));
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file)) ?? '/bin/busybox';
  cpSync(busybox, join(root, 'bin', 'busybox'), { dereference: true });
  const { stdout } = await execute(busybox, ['--list']);
  for (const name of stdout.split('\n').filter((name) => name !== '' && name !== 'busybox'))
    symlinkSync('busybox', join(root, 'bin', name));
  const file = join(folder, 'image.tar');
  await execute('tar', ['-C', root, '--owner=0', '--group=0', '-cf', file, '.']);
  await docker('import', '--change', 'ENV PATH=/bin', file, engineImage);
  rmSync(root, { recursive: true, force: true });
  rmSync(file);
}

/** A runtime may leave what it had begun of a start that failed, as gVisor does: each names the Engine's own folder. @param {string} folder */
function endLeft(folder) {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      if (
        Number(name) !== process.pid &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(`${folder}/`)
      )
        process.kill(Number(name), 'SIGKILL');
    } catch {
      // Gone meanwhile.
    }
  }
}
