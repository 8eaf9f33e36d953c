/** Words of a command line as a POSIX shell would split them, and back. Nothing is ever expanded: jobs are argument vectors. */
import { ok, refuse, type Result } from './errors.js';

export interface SplitWords {
  readonly words: readonly string[];
  /**
   * What a shell would have acted on and we take literally, in order of appearance, once each: `|`, `>`, `&&`, `$HOME`, `*.txt`.
   * Not empty: the person probably wants `sh -c '...'`.
   */
  readonly shellOnly: readonly string[];
}

const operators = ['&&', '||', '>>', '<<', '|', '&', ';', '>', '<', '(', ')', '`'] as const;

/**
 * Splits at blanks and line ends (a backslash before a line end is dropped, so pasted multi-line commands read as one), honours
 * single quotes, double quotes and backslashes. Refused only when a quote is not closed.
 */
export function splitWords(text: string): Result<SplitWords> {
  const read = readWords(text);
  return read.ok ? ok({ words: read.value.words, shellOnly: read.value.shellOnly }) : read;
}

/** The text from its word `index` on, as it was written; empty when it has no more words. */
export function textFromWord(text: string, index: number): string {
  const read = readWords(text);
  const start = read.ok ? read.value.starts[index] : undefined;
  return start === undefined ? '' : text.slice(start);
}

interface ReadWords extends SplitWords {
  /** Where each word begins in the text. */
  readonly starts: readonly number[];
}

function readWords(text: string): Result<ReadWords> {
  const words: string[] = [];
  const starts: number[] = [];
  const shellOnly: string[] = [];
  const note = (what: string) => {
    if (!shellOnly.includes(what)) shellOnly.push(what);
  };
  let word: string | null = null;
  let at = 0;
  const finish = () => {
    if (word !== null) words.push(word);
    word = null;
  };
  while (at < text.length) {
    const char = text.charAt(at);
    // Set again for what turns out to begin no word: blanks and a line end that is escaped.
    if (word === null) starts[words.length] = at;
    if (char === '\\') {
      const escapedBreak = /^\\\r?\n/.exec(text.slice(at, at + 3));
      if (escapedBreak !== null) {
        at += escapedBreak[0].length;
        continue;
      }
      if (at + 1 >= text.length) {
        // A lone backslash at the very end is a continuation that has not been typed yet.
        at += 1;
        continue;
      }
      word = (word ?? '') + text.charAt(at + 1);
      at += 2;
      continue;
    }
    if (/\s/.test(char)) {
      finish();
      at += 1;
      continue;
    }
    if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return unclosed("'", text.slice(at));
      word = (word ?? '') + text.slice(at + 1, end);
      at = end + 1;
      continue;
    }
    if (char === '"') {
      const quoted = readDoubleQuoted(text, at + 1, note);
      if (quoted === null) return unclosed('"', text.slice(at));
      word = (word ?? '') + quoted.value;
      at = quoted.end;
      continue;
    }
    if (char === '#' && word === null) note('#');
    const operator = operators.find((candidate) => text.startsWith(candidate, at));
    if (operator !== undefined) {
      note(operator);
      word = (word ?? '') + operator;
      at += operator.length;
      continue;
    }
    noteExpansion(text, at, word === null, note);
    word = (word ?? '') + char;
    at += 1;
  }
  finish();
  return ok({ words, starts: starts.slice(0, words.length), shellOnly });
}

function readDoubleQuoted(
  text: string,
  start: number,
  note: (what: string) => void,
): { value: string; end: number } | null {
  let value = '';
  let at = start;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '"') return { value, end: at + 1 };
    const next = text.charAt(at + 1);
    if (char === '\\' && next !== '' && '"\\$`\n'.includes(next)) {
      if (next !== '\n') value += next;
      at += 2;
      continue;
    }
    if (char === '`') note('`');
    if (char === '$') noteExpansion(text, at, false, note);
    value += char;
    at += 1;
  }
  return null;
}

function noteExpansion(text: string, at: number, startsWord: boolean, note: (what: string) => void): void {
  const char = text.charAt(at);
  if (char === '$') {
    const variable = /^\$(?:\{[^}]*\}|[A-Za-z_]\w*|\(|[0-9@*#?!$-])/.exec(text.slice(at, at + 80));
    if (variable !== null) note(variable[0]);
    return;
  }
  if (char === '~' && startsWord) note('~');
  if (char === '*' || char === '?') note(char);
}

function unclosed(quote: string, rest: string): Result<never> {
  const shown = rest.length > 40 ? `${rest.slice(0, 37)}...` : rest;
  return refuse('INVALID_ARGUMENT', `The command has an unclosed ${quote} at: ${shown}`, [
    { field: 'command', value: shown, expected: `a closing ${quote}` },
  ]);
}

/** One word as a POSIX shell reads it back unchanged; plain words stay as they are. */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}
