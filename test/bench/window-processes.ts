/** Processor time of a process and of all below it, from /proc. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessTime {
  readonly pid: number;
  readonly name: string;
  readonly cpuMs: number;
}

interface Stat extends ProcessTime {
  readonly parent: number;
}

const tickMs = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

export function processTimes(rootPid: number): ProcessTime[] {
  const all = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    return stat === null ? [] : [stat];
  });
  const found: Stat[] = all.filter((one) => one.pid === rootPid);
  for (const parent of found) found.push(...all.filter((one) => one.parent === parent.pid));
  return found.map(({ pid, name, cpuMs }) => ({ pid, name, cpuMs }));
}

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      name: nameOf(pid, text),
      parent: Number(fields[1]),
      cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
    };
  } catch {
    return null; // gone meanwhile
  }
}

/** What Chromium calls the process, or its command. */
function nameOf(pid: number, stat: string): string {
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  const [, type] = /--type=([a-z-]+)/.exec(line) ?? [];
  return (
    type ??
    (line.includes('launcher') ? 'launcher' : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')))
  );
}
