/** GPU models as people ask for them: the exact variant, or a shorter form that matches one of the variants there are. */
import type { JobSpec } from '../contract/job-request.js';
import { maxGpuCount } from '../model/assign.js';
import type { CardMemory } from './sharing.js';

export interface GpuCard {
  readonly uuid: string;
  readonly index: number;
  /** Product name without vendor and brand words, lower case: `rtx-4090`, `h100`, `a100-80gb`. */
  readonly variant: string;
  /** Null or absent: not readable, so that tasks do not share it. */
  readonly memory?: CardMemory | null;
}

/** True when the asked form is the variant, or some whole words of it in order: `4090` of `rtx-4090`, `a100` of `a100-80gb`. */
export function matchesVariant(asked: string, variant: string): boolean {
  const wanted = words(asked);
  const there = words(variant);
  if (wanted.length === 0) return false;
  return there.some((_, start) => wanted.every((word, offset) => there[start + offset] === word));
}

function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
}

export type GpuResolution =
  | { readonly kind: 'resolved'; readonly count: number; readonly variant: string | null }
  | { readonly kind: 'unknown'; readonly asked: string }
  | { readonly kind: 'ambiguous'; readonly asked: string; readonly matches: readonly string[] };

/** Cards that count for limits: a number that no machine has may be a model, of which it is one. */
export function cardsMeant(count: number, variant: string | null): number {
  return count > maxGpuCount && variant === null ? 1 : count;
}

/** What a request means on machines that have these variants. An exact name wins over longer ones that contain it. */
export function resolveGpuRequest(
  spec: Pick<JobSpec, 'gpuCount' | 'gpuVariant'>,
  variants: readonly string[],
): GpuResolution {
  const { gpuCount, gpuVariant } = spec;
  if (gpuCount === 0) return { kind: 'resolved', count: 0, variant: null };
  const distinct = [...new Set(variants)].sort();
  if (gpuVariant === null) {
    if (gpuCount <= maxGpuCount) return { kind: 'resolved', count: gpuCount, variant: null };
    const model = oneOf(String(gpuCount), distinct);
    return model.kind === 'unknown'
      ? { kind: 'resolved', count: gpuCount, variant: null }
      : withCount(model, 1);
  }
  return withCount(oneOf(gpuVariant, distinct), gpuCount);
}

type Match =
  | { readonly kind: 'one'; readonly variant: string }
  | { readonly kind: 'unknown'; readonly asked: string }
  | { readonly kind: 'ambiguous'; readonly asked: string; readonly matches: readonly string[] };

function oneOf(asked: string, variants: readonly string[]): Match {
  if (variants.includes(asked)) return { kind: 'one', variant: asked };
  const matches = variants.filter((variant) => matchesVariant(asked, variant));
  const [first] = matches;
  if (first === undefined) return { kind: 'unknown', asked };
  return matches.length === 1 ? { kind: 'one', variant: first } : { kind: 'ambiguous', asked, matches };
}

function withCount(match: Match, count: number): GpuResolution {
  return match.kind === 'one' ? { kind: 'resolved', count, variant: match.variant } : match;
}
