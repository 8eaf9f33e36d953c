/** Text as a terminal shows it: how much room it takes, and what of it is no text. */

const controlSequence = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*[A-Za-z]`, 'g');
/** Colours, moves and titles. */
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
/** With what ends lines elsewhere, and what turns the direction of the text behind it. */
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** Columns a text takes at most: characters beyond Latin count as two. */
export function columnsOf(written: string): number {
  const text = written.includes('\x1b') ? written.replace(controlSequence, '') : written;
  let total = 0;
  for (let at = 0; at < text.length; at += 1)
    total += text.charCodeAt(at) >= 0x1100 ? 2 : text.charAt(at) === '\t' ? 8 : 1;
  return total;
}

/** As much of a text as takes no more columns. */
export function firstColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let fits = '';
  for (const letter of text) {
    if (columnsOf(fits + letter) > columns) break;
    fits += letter;
  }
  return fits;
}

/** What can act on nothing where it is shown. */
export function withoutControls(text: string): string {
  return text.replace(escapes, '').replace(controls, ' ');
}
