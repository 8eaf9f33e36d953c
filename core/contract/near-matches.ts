/** Names close to one that is not known, for 'did you mean'. */

function distance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left.charAt(row - 1) === right.charAt(column - 1);
      current.push(
        Math.min(
          (previous[column] ?? row) + 1,
          (current[column - 1] ?? row) + 1,
          (previous[column - 1] ?? row) + (same ? 0 : 1),
        ),
      );
    }
    previous = current;
  }
  return previous[right.length] ?? left.length;
}

/** At most three known names within two edits, or that begin with the text (four characters or more), nearest first. */
export function nearMatches(text: string, known: readonly string[]): string[] {
  if (text.length < 4) return [];
  const wanted = text.toLowerCase();
  return known
    .map((name) => {
      const lower = name.toLowerCase();
      const begins = (lower.startsWith(wanted) || wanted.startsWith(lower)) && lower.length >= 4;
      return { name, score: Math.min(distance(wanted, lower), begins ? 1.5 : Number.POSITIVE_INFINITY) };
    })
    .filter((item) => item.score <= 2)
    .sort((left, right) => left.score - right.score)
    .slice(0, 3)
    .map((item) => item.name);
}
