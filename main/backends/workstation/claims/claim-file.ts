/** One claim as it stands in a file that everybody on the machine can read: whose attempt, what it has, and what proves that it lives. */
import { z } from 'zod';

const identitySchema = z.strictObject({
  pid: z.number().int().positive(),
  startTicks: z.number().nullable(),
});
export type ClaimIdentity = z.infer<typeof identitySchema>;

export const claimSchema = z.strictObject({
  version: z.literal(1),
  owner: z.string().max(256),
  /** Which controller of that owner. */
  controller: z.string().regex(/^[0-9a-f]{16}$/),
  attempt: z.string().regex(/^[0-9a-z-]{1,64}$/i),
  devices: z.array(z.string().min(1).max(255)).max(64),
  cpuMillicores: z.number().min(0).max(1e9),
  memoryBytes: z.number().min(0).max(1e18),
  bootId: z.string().max(64),
  /** Process numbers mean something in there only. */
  pidNamespace: z.string().max(64),
  host: identitySchema,
  /** Of the attempt; null before it has started. */
  supervisor: identitySchema.nullable(),
  /** In a container, which lives on without any process that could be named here. */
  container: z.boolean(),
});
export type Claim = z.infer<typeof claimSchema>;

/** Longer than any of ours: what is larger is none. */
export const maxClaimBytes = 32 * 1024;

export function parseClaimFile(text: string): Claim | null {
  try {
    const parsed = claimSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null; // somebody's rubbish
  }
}

const devicePrefix = 'device-';
const mostGenerations = 99_999;

/** `device-GPU-a1-3`: the number grows where a dead owner's file could not be taken away. */
export function deviceFileName(device: string, generation: number): string {
  return `${devicePrefix}${encodeURIComponent(device)}-${generation}`;
}

/** Null: the name is not that device's. */
export function generationOf(name: string, device: string): number | null {
  const prefix = `${devicePrefix}${encodeURIComponent(device)}-`;
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^\d{1,5}$/.test(rest) && Number(rest) < mostGenerations ? Number(rest) : null;
}

/** After the last; when somebody has put the last possible one there, the first that is free. */
export function nextGeneration(names: readonly string[], device: string): number {
  const taken = new Set(names.map((name) => generationOf(name, device) ?? -1));
  const after = Math.max(-1, ...taken) + 1;
  if (after < mostGenerations) return after;
  let free = 0;
  while (taken.has(free)) free += 1;
  return free;
}

export function attemptFileName(attempt: string): string {
  return `attempt-${attempt}`;
}

export const isClaimName = (name: string): boolean => /^(device|attempt)-/.test(name);
