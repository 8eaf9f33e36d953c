/** Whose a process or a file is, by name. */
import { readFileSync, statSync } from 'node:fs';
import os from 'node:os';

const rereadAfterMs = 60_000;
let names: ReadonlyMap<number, string> = new Map();
let readAtMs = Number.NEGATIVE_INFINITY;

/** The login of that number; null where only a network service knows it. */
export function loginOf(userId: number): string | null {
  const now = performance.now();
  if (now - readAtMs > rereadAfterMs) {
    readAtMs = now;
    names = readNames();
  }
  return names.get(userId) ?? null;
}

function readNames(): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  try {
    for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
      const [name = '', , id = ''] = line.split(':');
      if (name !== '' && /^\d+$/.test(id) && !found.has(Number(id))) found.set(Number(id), name);
    }
  } catch {
    // Not this system.
  }
  return found;
}

/** The owner of a process; its number where there is no name, null when it is gone. */
export function userOfProcess(pid: number): string | null {
  try {
    const { uid } = statSync(`/proc/${pid}`);
    return loginOf(uid) ?? `uid ${uid}`;
  } catch {
    return null;
  }
}

/** Of whoever runs this program. A number without a name is a user as well: in a container, or while a network's directory is away. */
export function ownName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 0}`;
  }
}

/** The root folder where none is known, as for a login without one. */
export function ownHome(): string {
  try {
    return os.homedir();
  } catch {
    return '/';
  }
}
