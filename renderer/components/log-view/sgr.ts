/**
 * Colours and styles (SGR sequences) of one stream. Two streams share one terminal, so each keeps its own style: a red that one
 * never ended does not colour the other.
 */

/**
 * Palette entry whose colour is the log's own background: text of stderr carries it invisibly, so that the margin can tell which rows
 * are stderr after any scrolling or re-wrapping. A program that asks for this entry gets its neighbour.
 */
export const errorMarkColor = 255;
const markSequence = `\x1b[48;5;${errorMarkColor}m`;

export interface StyleTracker {
  /** The text with its style sequences made safe (nothing hidden) and, when marking, with the mark kept on. */
  readonly apply: (text: string) => string;
  /** Sequence that brings a terminal in any style to this stream's present one. */
  readonly restore: () => string;
  readonly reset: () => void;
}

const styleSequence = new RegExp(`${String.fromCharCode(27)}\\[([0-9;:]*)m`, 'g');
/** More than this since the last reset is noise: the oldest are forgotten. */
const mostKept = 24;

export function createStyleTracker(mark: boolean): StyleTracker {
  let kept: string[] = [];
  let hasBackground = false;

  function rewrite(parameters: string): string {
    const parts = parameters.split(';');
    const out: string[] = [];
    let resets = false;
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] ?? '';
      const code = part === '' ? 0 : Number(part.split(':')[0]);
      if (code === 8) continue;
      if (code === 38 || code === 48 || code === 58) {
        const length = part.includes(':') ? 1 : parts[at + 1] === '5' ? 3 : parts[at + 1] === '2' ? 5 : 1;
        if (code === 48) hasBackground = true;
        out.push(avoidMark(parts.slice(at, at + length)));
        at += length - 1;
        continue;
      }
      if (code === 0) {
        resets = true;
        hasBackground = false;
        kept = [];
      } else if (code === 49) hasBackground = false;
      else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) hasBackground = true;
      out.push(part);
    }
    if (out.length === 0) return '';
    const text = `\x1b[${out.join(';')}m`;
    if (!(resets && out.length === 1)) {
      kept.push(text);
      if (kept.length > mostKept) kept.shift();
    }
    return mark && !hasBackground ? text + markSequence : text;
  }

  return {
    apply(text) {
      return text.includes('\x1b[')
        ? text.replace(styleSequence, (_whole, parameters: string) => rewrite(parameters))
        : text;
    },
    restore() {
      return `\x1b[0m${kept.join('')}${mark && !hasBackground ? markSequence : ''}`;
    },
    reset() {
      kept = [];
      hasBackground = false;
    },
  };
}

function avoidMark(parts: readonly string[]): string {
  const text = parts.join(';');
  return text.replace(/^(48[;:]5[;:])255$/, '$1254').replace(/^(48:5:)255$/, '$1254');
}
