/** What a container's control group tells of its use, from the texts of its files; both versions. */

export interface GroupFigures {
  readonly cpuSeconds: number | null;
  readonly memoryBytes: number | null;
  /** Highest so far; null where the kernel does not keep it. */
  readonly peakMemoryBytes: number | null;
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
}

/** Folders below the mount of each controller; version 2 has one for both. */
export interface GroupPlace {
  readonly version: 1 | 2;
  readonly cpu: string;
  readonly memory: string;
}

/** From /proc/PID/cgroup. Null: it does not name that container, so the process is of another machine or of something else. */
export function groupPlace(text: string, containerId: string): GroupPlace | null {
  const rows = text
    .split('\n')
    .map((row) => /^\d+:([^:]*):(.*)$/.exec(row))
    .filter((row) => row !== null);
  const find = (controller: string): string | null => {
    const found = rows.find(([, names = '']) => names.split(',').includes(controller))?.[2] ?? null;
    return found?.includes(containerId) === true ? found : null;
  };
  const [cpu, memory] = [find('cpuacct'), find('memory')];
  if (cpu !== null && memory !== null) return { version: 1, cpu, memory };
  const whole = find('');
  return whole === null ? null : { version: 2, cpu: whole, memory: whole };
}

/** `read` gives a file's text by folder and name; null: it is not there. */
export function groupFigures(
  place: GroupPlace,
  read: (controller: 'cpu' | 'memory', name: string) => string | null,
): Omit<GroupFigures, 'readBytes' | 'writtenBytes'> {
  const one = place.version === 1;
  const cpu = one ? whole(read('cpu', 'cpuacct.usage')) : field(read('cpu', 'cpu.stat'), 'usage_usec');
  const used = whole(read('memory', one ? 'memory.usage_in_bytes' : 'memory.current'));
  // Files that the system could drop at once are nobody's need, as `docker stats` has it.
  const files = field(read('memory', 'memory.stat'), one ? 'total_inactive_file' : 'inactive_file') ?? 0;
  return {
    cpuSeconds: cpu === null ? null : cpu / (one ? 1e9 : 1e6),
    memoryBytes: used === null ? null : Math.max(0, used - files),
    peakMemoryBytes: whole(read('memory', one ? 'memory.max_usage_in_bytes' : 'memory.peak')),
  };
}

function whole(text: string | null): number | null {
  return text !== null && /^\d+\s*$/.test(text) ? Number(text) : null;
}

function field(text: string | null, name: string): number | null {
  const row = text?.split('\n').find((line) => line.startsWith(`${name} `));
  return row === undefined ? null : whole(row.slice(name.length + 1));
}
