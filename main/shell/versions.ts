/** True when a version is older than another by its three numbers; pre-release parts and texts that are no version count as not older. */
export function isOlderVersion(version: string, than: string): boolean {
  const left = numbers(version);
  const right = numbers(than);
  if (left === null || right === null) return false;
  for (const [index, part] of left.entries()) {
    const other = right[index] ?? 0;
    if (part !== other) return part < other;
  }
  return false;
}

function numbers(version: string): readonly number[] | null {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  return match === null ? null : match.slice(1, 4).map(Number);
}
