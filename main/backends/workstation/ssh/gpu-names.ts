/** The cards of a machine in words: each name once, with how many there are of it where there are others. */
export function gpuNames(gpus: readonly { readonly name: string }[]): string {
  const counts = new Map<string, number>();
  for (const { name } of gpus) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (counts.size === 1) return [...counts.keys()].join('');
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
