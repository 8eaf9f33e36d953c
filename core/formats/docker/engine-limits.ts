/** What an Engine can hold containers to, by its own word. Without control groups (rootless where the system has cgroup v1) it is nothing. */
import { z } from 'zod';

const infoSchema = z.looseObject({
  MemoryLimit: z.boolean().optional().catch(undefined),
  CpuCfsQuota: z.boolean().optional().catch(undefined),
  PidsLimit: z.boolean().optional().catch(undefined),
  CgroupDriver: z.string().optional().catch(undefined),
});

export interface EngineLimits {
  /** False: a container has no group of its own, so that figures of its group are those of something larger. */
  readonly groups: boolean;
  readonly memory: boolean;
  readonly cpu: boolean;
  readonly pids: boolean;
}

/** From the answer to `/info`. What an Engine does not say is taken as held: most have never said otherwise. */
export function engineLimits(info: unknown): EngineLimits {
  const parsed = infoSchema.safeParse(info);
  const said = parsed.success ? parsed.data : {};
  const groups = said.CgroupDriver !== 'none';
  return {
    groups,
    memory: groups && said.MemoryLimit !== false,
    cpu: groups && said.CpuCfsQuota !== false,
    pids: groups && said.PidsLimit !== false,
  };
}

/** Null: all that jobs ask for is held. `measured`: memory is measured instead, and a container above its limit ended. */
export function limitsWarning(limits: EngineLimits, measured: boolean): string | null {
  const loose = [
    ...(limits.memory || measured ? [] : ['memory']),
    ...(limits.cpu ? [] : ['processors']),
    ...(limits.pids ? [] : ['number of processes']),
  ];
  if (loose.length === 0 && limits.memory) return null;
  const instead =
    limits.memory || !measured
      ? ''
      : ' Memory is measured every 2 s, and a container above its limit is ended.';
  const last = loose.at(-1) ?? '';
  const list = loose.length < 2 ? last : `${loose.slice(0, -1).join(', ')} and ${last}`;
  const held =
    list === '' ? '' : ` Containers are not held to the ${list} they ask for: these count for placing only.`;
  const why = limits.groups
    ? 'The kernel of this Engine lacks some control groups.'
    : 'This Engine runs without control groups, as rootless Docker does on a system with cgroup v1; a system with cgroup v2 has them.';
  return `${why}${held}${instead}`;
}
