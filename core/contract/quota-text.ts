/** A quota as people write it: `gpus=4,cores=16,memory=64GB,tasks=10`; `none` takes a bound, or all of them, away. */
import { parseSize, sizeExpected, sizeToInput } from '../formats/sizes.js';
import type { QuotaView } from './budgets.js';
import { ok, refuse, type Result } from './errors.js';

const bounds = ['gpus', 'cores', 'memory', 'tasks'] as const;
type Bound = (typeof bounds)[number];
export const quotaExpected = 'bounds such as gpus=4,cores=16,memory=64GB,tasks=10, or none';

/** Empty for no bound at all. */
export function quotaToText({ tasks, gpus, cpuMillicores, memoryBytes }: QuotaView): string {
  return [
    ...(gpus === null ? [] : [`gpus=${gpus}`]),
    ...(cpuMillicores === null ? [] : [`cores=${cpuMillicores / 1000}`]),
    ...(memoryBytes === null ? [] : [`memory=${sizeToInput(memoryBytes)}`]),
    ...(tasks === null ? [] : [`tasks=${tasks}`]),
  ].join(',');
}

/** The bounds that are named; the others are absent. `none` alone names all. */
export function textToQuota(text: string): Result<Partial<QuotaView>> {
  const words = text.split(/[,\s]+/).filter((word) => word !== '');
  if (words.length === 1 && words[0]?.toLowerCase() === 'none')
    return ok({ tasks: null, gpus: null, cpuMillicores: null, memoryBytes: null });
  const quota: Partial<QuotaView> = {};
  for (const word of words) {
    const [name = '', value = ''] = word.toLowerCase().split('=', 2);
    const bound = bounds.find((known) => known === name);
    const amount =
      bound === undefined || value === '' ? undefined : amountOf(bound, word.slice(name.length + 1));
    if (bound === undefined || amount === undefined) return wrong(word, bound);
    if (bound === 'cores') quota.cpuMillicores = amount;
    else if (bound === 'memory') quota.memoryBytes = amount;
    else quota[bound] = amount;
  }
  return words.length === 0 ? wrong(text, undefined) : ok(quota);
}

function amountOf(bound: Bound, text: string): number | null | undefined {
  if (text.toLowerCase() === 'none') return null;
  if (bound === 'memory') return parseSize(text);
  const number = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : undefined;
  if (number === undefined) return undefined;
  if (bound === 'cores') return Math.round(number * 1000);
  return Number.isInteger(number) ? number : undefined;
}

function wrong(value: string, bound: Bound | undefined): Result<never> {
  const expected = bound === 'memory' ? `memory=${sizeExpected}` : quotaExpected;
  return refuse(
    'INVALID_ARGUMENT',
    `quota: ${value === '' ? 'nothing' : value} is not valid; expected ${expected}.`,
    [{ field: 'quota', value: value === '' ? 'nothing' : value, expected }],
  );
}
