/** Packages of the system: what Electron links to, a display where there is none, a compiler, and what the tests need. */
import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { readStamp, writeStamp } from '../lib/inputs.mjs';
import { hasProgram, run } from '../lib/run.mjs';
import { UserError, say } from '../lib/step.mjs';

/** Some libraries have another name from Ubuntu 24.04 and Debian 13 on: the first name that is there or can be had counts. */
const wanted = {
  window: [
    ['libgtk-3-0', 'libgtk-3-0t64'],
    ['libnss3'],
    ['libasound2', 'libasound2t64'],
    ['libgbm1'],
    ['libxss1'],
    ['libatk-bridge2.0-0', 'libatk-bridge2.0-0t64'],
    ['fonts-dejavu-core'],
  ],
  display: [['xvfb'], ['xauth'], ['dbus']],
  compiler: [['g++'], ['make'], ['python3']],
  tests: [
    ['dbus-x11'],
    ['dunst'],
    ['trayer'],
    ['x11-utils'],
    ['procps'],
    ['openssh-server'],
    ['openssh-client'],
    ['iproute2'],
  ],
  /** An Engine of the tests' own, what its image is made of, and where images come from. */
  engine: [
    ...[['docker.io'], ['busybox-static'], ['docker-registry'], ['openssl']],
    // For one that runs without root's rights.
    ...[['rootlesskit'], ['uidmap']],
    // gVisor, and Podman, which answers as Docker does.
    ...[['runsc'], ['podman'], ['catatonit']],
  ],
  /** What the figures are measured beside. */
  bench: [['task-spooler'], ['parallel']],
};

/** @typedef {keyof typeof wanted} Purpose */

/** @param {readonly Purpose[]} purposes */
const stampOf = (purposes) =>
  [...purposes].sort().join(' ') +
  JSON.stringify(purposes.map((one) => wanted[one].filter((names) => !bringsService(names))));

/** @param {readonly Purpose[]} purposes */
export function debianDue(purposes) {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/dpkg-query')) return false;
  if (readStamp('debian') === stampOf(purposes)) return false;
  if (missing(purposes).length > 0) return true;
  writeStamp('debian', stampOf(purposes));
  return false;
}

/** @param {readonly Purpose[]} purposes */
function missing(purposes) {
  const groups = purposes.flatMap((one) => wanted[one]);
  const query = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n', ...groups.flat()], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const installed = new Set(
    query.stdout.split('\n').flatMap((line) => (line.endsWith(' installed') ? [line.split(' ')[0]] : [])),
  );
  return groups.filter(
    (names) => !bringsService(names) && !names.some((name) => installed.has(name) || isProgram(name)),
  );
}

/**
 * Where systemd runs, these packages would start a service, now and with every start of the machine: whether they may is its owner's to
 * say. The tests that need them are skipped by name without them. @param {readonly string[]} names
 */
function bringsService(names) {
  const services = ['openssh-server', 'docker.io', 'docker-registry', 'podman'];
  return (
    process.env.CI !== 'true' &&
    existsSync('/run/systemd/system') &&
    names.some((name) => services.includes(name))
  );
}

/** A compiler, Python or Docker from elsewhere is as good as the package. @param {string} name */
function isProgram(name) {
  if (name === 'docker.io') return hasProgram('dockerd') || existsSync('/usr/sbin/dockerd');
  return ['g++', 'make', 'python3'].includes(name) && hasProgram(name);
}

/**
 * The name each has in this system's lists. What is in none of them is left out and said, so that the others are installed; what
 * needs it says so again by itself. Lists that have none of all were never fetched: then the names are those of this age of system.
 * @param {readonly string[][]} groups
 */
function choose(groups) {
  const shown = spawnSync('apt-cache', ['policy', ...groups.flat()], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  const known = new Set(
    shown.stdout
      .split(/^(?=\S)/m)
      .flatMap((block) => (/Candidate: \d/.test(block) ? [block.split(':\n')[0]] : [])),
  );
  if (known.size === 0) return groups.map((names) => likelyName(names));
  return groups.flatMap((names) => {
    const found = names.find((name) => known.has(name));
    if (found === undefined) say(`      This system has no package ${names.join(' or ')}.`);
    return found ?? [];
  });
}

/** @param {readonly string[]} names The name before and after a library's times were made 64 bits long, from glibc 2.39 on. */
function likelyName(names) {
  const [before = '', after = before] = names;
  const query = spawnSync('dpkg-query', ['-W', '-f', '${Version}', 'libc6'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = query.stdout.split(/[.-]/).map(Number);
  return major > 2 || (major === 2 && minor >= 39) ? after : before;
}

/** @param {readonly Purpose[]} purposes @param {(text: string) => void} note */
export async function prepareDebian(purposes, note) {
  if (!hasProgram('apt-get')) return;
  const root = process.getuid?.() === 0;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  if (!root) {
    // Not ours to do; what depends on it says so again if it fails.
    say('      Packages of the system are missing. Please type:');
    say(`        sudo apt-get update && sudo apt-get install -y ${choose(missing(purposes)).join(' ')}`);
    return;
  }
  const update = await run('apt-get', [...wait, 'update'], { env, onLine: note, timeoutMs: 10 * 60_000 });
  if (update.code !== 0)
    say(`      apt-get update failed (exit ${update.code}); going on with the lists there are.`);
  const names = choose(missing(purposes));
  if (names.length === 0) {
    writeStamp('debian', stampOf(purposes));
    return;
  }
  say(`      apt-get install ${names.join(' ')}`);
  const install = await run('apt-get', [...wait, 'install', '-y', '--no-install-recommends', ...names], {
    env,
    onLine: note,
    timeoutMs: 20 * 60_000,
  });
  if (install.code !== 0) {
    throw new UserError(`apt-get install failed (exit ${install.code}):\n${install.output.slice(-3000)}`);
  }
  writeStamp('debian', stampOf(purposes));
}
