/**
 * All that a program has started, however far it has gone from it: processes in sessions of their own (Engines, sshd, displays, hosts
 * and what they run), what is mounted below their folders, and network namespaces they are in. Found by a mark in the environment, and
 * from those by parent, as a child may have an environment of its own. Linux only; elsewhere nothing is found.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'STAGE_PROCESS_MARK';
const endWithinMs = 10_000;

/** What a program is started with, to be found by. @returns {{env: Record<string, string>, mark: string}} */
export function newMark() {
  const mark = randomUUID();
  return { mark, env: { [variable]: mark } };
}

/** Empty when it is gone, or another's. @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** @param {string} file */
function link(file) {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

/** @param {string} folder */
function names(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Those that live; never this process or what it descends from. @param {string} mark @returns {number[]} */
export function familyOf(mark) {
  /** @type {Map<number, number>} */
  const parents = new Map();
  /** @type {Set<number>} */
  const found = new Set();
  for (const name of names('/proc')) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? read(`/proc/${pid}/stat`) : '';
    const [state = 'Z', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (stat === '' || state === 'Z' || state === 'X') continue;
    parents.set(pid, Number(parent));
    if (read(`/proc/${pid}/environ`).split('\0').includes(`${variable}=${mark}`)) found.add(pid);
  }
  const own = new Set([process.pid]);
  for (let pid = parents.get(process.pid) ?? 0; pid > 0 && !own.has(pid); pid = parents.get(pid) ?? 0)
    own.add(pid);
  for (let grew = true; grew;) {
    grew = false;
    for (const [pid, parent] of parents) {
      if (found.has(pid) || !found.has(parent)) continue;
      found.add(pid);
      grew = true;
    }
  }
  return [...found].filter((pid) => !own.has(pid));
}

/** What tells which folders are a process's own. @param {number} pid */
function wordsOf(pid) {
  const files = names(`/proc/${pid}/fd`).map((fd) => link(`/proc/${pid}/fd/${fd}`));
  return [
    read(`/proc/${pid}/cmdline`),
    read(`/proc/${pid}/environ`),
    link(`/proc/${pid}/cwd`),
    ...files,
  ].join('\0');
}

/** Names of network namespaces that are not this process's own. @param {readonly number[]} pids */
function namespacesOf(pids) {
  const inode = (/** @type {string} */ file) => {
    try {
      return statSync(file).ino;
    } catch {
      return 0;
    }
  };
  const here = inode('/proc/self/ns/net');
  const theirs = new Set(pids.map((pid) => inode(`/proc/${pid}/ns/net`)));
  return names('/run/netns').filter((name) => {
    const id = inode(`/run/netns/${name}`);
    return id !== 0 && id !== here && theirs.has(id);
  });
}

/**
 * Kills them all, then takes away what only they used. Synchronous, as it may be the last thing done.
 * @param {string} mark @param {number} [graceMs] to end by themselves
 */
export function endFamily(mark, graceMs = 0) {
  /** @type {Set<string>} */
  const namespaces = new Set();
  let words = '';
  const begun = Date.now();
  for (
    let pids = familyOf(mark);
    pids.length > 0 && Date.now() < begun + graceMs + endWithinMs;
    pids = familyOf(mark)
  ) {
    words += pids.map(wordsOf).join('\0');
    for (const name of namespacesOf(pids)) namespaces.add(name);
    for (const pid of Date.now() < begun + graceMs ? [] : pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended in the meantime.
      }
    }
    // The kernel takes a moment.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  const base = join(tmpdir(), 'iris-');
  const mounts = read('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((mount) => mount.startsWith(base) && words.includes(mount.slice(0, topLength(mount))));
  for (const mount of mounts.reverse()) attempt('umount', ['--lazy', mount]);
  for (const name of namespaces) attempt('ip', ['netns', 'delete', name]);
}

/** To the end of the folder right below the temporary one. @param {string} mount */
function topLength(mount) {
  const end = mount.indexOf('/', tmpdir().length + 1);
  return end < 0 ? mount.length : end;
}

/** @param {string} program @param {readonly string[]} args */
function attempt(program, args) {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
  } catch {
    // Gone already, or not ours to take away.
  }
}
