/**
 * What a program printed is untrusted text. This lets through what a log is read with (colours, carriage returns, erasing and moving
 * within the last lines, as progress bars do) and drops what acts on the terminal or beyond: titles, the clipboard, links, device
 * questions, other screens, resets. Works on a stream: a sequence may be cut anywhere.
 */

export interface EscapeFilter {
  /** The safe part of the text so far; an unfinished sequence is kept until it ends. */
  readonly push: (text: string) => string;
  readonly reset: () => void;
}

/** Acts on a terminal by itself: C0 without tab, line feed, carriage return and backspace; DEL; all of C1. */
function isUnsafe(code: number): boolean {
  if (code < 0x20) return code !== 0x09 && code !== 0x0a && code !== 0x0d && code !== 0x08;
  return code >= 0x7f && code <= 0x9f;
}

function findUnsafe(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (isUnsafe(text.charCodeAt(at))) return at;
  return -1;
}

/** A title or link may be this long; anything longer was never meant as one and is shown as text. */
const longestString = 4096;
const longestSequence = 64;

/** CSI finals that stay: colours, erase in line, relative moves, column. */
const keptFinals = new Set(['m', 'K', 'A', 'B', 'C', 'D', 'E', 'F', 'G']);

interface Step {
  /** What to keep. */
  readonly keep: string;
  /** Index after the sequence; the text's length + 1 means it is not finished. */
  readonly next: number;
}

/** One sequence that begins with ESC (or its one-byte form) at `at`. */
function readSequence(text: string, at: number): Step {
  const unfinished = { keep: '', next: text.length + 1 };
  const first = text.charAt(at);
  const kind = first === '\x1b' ? text.charAt(at + 1) : String.fromCharCode(first.charCodeAt(0) - 0x40);
  const bodyAt = first === '\x1b' ? at + 2 : at + 1;
  if (kind === '') return unfinished;
  if (kind === '[') return readControl(text, bodyAt);
  if (kind === ']' || kind === 'P' || kind === 'X' || kind === '^' || kind === '_')
    return readString(text, bodyAt);
  if (kind >= ' ' && kind <= '/') {
    // Character sets and the like: intermediates, then one final.
    const end = /^[ -/]*/.exec(text.slice(bodyAt, bodyAt + longestSequence))?.[0].length ?? 0;
    return bodyAt + end >= text.length ? unfinished : { keep: '', next: bodyAt + end + 1 };
  }
  // Two-byte sequences (reset, save cursor); a control character is not part of one.
  return { keep: '', next: kind < ' ' ? bodyAt - 1 : bodyAt };
}

function readControl(text: string, bodyAt: number): Step {
  const body = /^[0-?]*[ -/]*/.exec(text.slice(bodyAt, bodyAt + longestSequence))?.[0] ?? '';
  const finalAt = bodyAt + body.length;
  if (finalAt >= text.length) return { keep: '', next: text.length + 1 };
  const final = text.charAt(finalAt);
  if (final < '@' || final > '~') return { keep: '', next: finalAt };
  const plain = /^[0-9;:]*$/.test(body);
  return { keep: plain && keptFinals.has(final) ? `\x1b[${body}${final}` : '', next: finalAt + 1 };
}

/** A string ends at BEL or ST. A line end or too much text ends it too: hiding a log's lines would be worse than showing a title. */
function readString(text: string, bodyAt: number): Step {
  const limit = Math.min(text.length, bodyAt + longestString);
  for (let at = bodyAt; at < limit; at += 1) {
    const char = text.charAt(at);
    if (char === '\n') return { keep: '', next: at };
    if (char === '\x07' || char === '\x9c' || char === '\x18' || char === '\x1a')
      return { keep: '', next: at + 1 };
    if (char !== '\x1b') continue;
    if (at + 1 >= text.length) break;
    return { keep: '', next: text.charAt(at + 1) === '\\' ? at + 2 : at };
  }
  return { keep: '', next: limit < text.length ? bodyAt : text.length + 1 };
}

/** ESC, or one of the one-byte forms of what ESC begins. */
function startsSequence(code: number): boolean {
  return code === 0x1b || (code >= 0x80 && '[]PX^_'.includes(String.fromCharCode(code - 0x40)));
}

export function createEscapeFilter(): EscapeFilter {
  let rest = '';
  return {
    push(input) {
      const text = rest + input;
      rest = '';
      let safe = '';
      let from = 0;
      for (;;) {
        const at = findUnsafe(text, from);
        if (at < 0) return safe + text.slice(from);
        safe += text.slice(from, at);
        const code = text.charCodeAt(at);
        if (!startsSequence(code)) {
          // A form feed or vertical tab moves down a line; the others print nothing.
          safe += code === 0x0b || code === 0x0c ? '\n' : '';
          from = at + 1;
          continue;
        }
        const step = readSequence(text, at);
        if (step.next > text.length) {
          rest = text.slice(at);
          return safe;
        }
        safe += step.keep;
        from = step.next;
      }
    },
    reset() {
      rest = '';
    },
  };
}
