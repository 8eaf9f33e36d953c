/** Processes of attempts that are still there, found the way the backend finds them. */
import { readdirSync, readFileSync } from 'node:fs';

/** Process ids whose environment names one of these attempts. A zombie has no environment and is not counted. */
export function processesOf(uids: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const uid = attemptOf(Number(name));
    if (uid !== null && uids.has(uid)) found.push(Number(name));
  }
  return found;
}

function attemptOf(pid: number): string | null {
  try {
    const entry = readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .find((text) => text.startsWith('IRIS_ATTEMPT_UID='));
    return entry === undefined ? null : entry.slice('IRIS_ATTEMPT_UID='.length);
  } catch {
    return null; // gone meanwhile
  }
}
