/** Asking a person at a terminal for what must not be seen. */
import type { Readable, Writable } from 'node:stream';

export interface Terminal {
  /** Shows the words, and nothing of what is typed. Null: cancelled, or `signal` ended it. */
  askHidden(words: string, signal: AbortSignal): Promise<string | null>;
}

export interface TerminalInput extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
}

/** Null: nobody is there to ask. */
export function openTerminal(
  input: TerminalInput,
  output: Writable & { readonly isTTY?: boolean },
): Terminal | null {
  if (input.isTTY !== true || output.isTTY !== true || input.setRawMode === undefined) return null;
  return { askHidden: (words, signal) => ask(input, output, words, signal) };
}

const [interrupt, end, backspace, erase, clear] = ['\u0003', '\u0004', '\b', '\u007f', '\u0015'];

function ask(
  input: TerminalInput,
  output: Writable,
  words: string,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    let typed: readonly string[] = [];
    const done = (answer: string | null): void => {
      input.off('data', read);
      signal.removeEventListener('abort', cancel);
      input.setRawMode?.(false);
      input.pause();
      output.write('\n');
      resolve(answer);
    };
    const cancel = (): void => done(null);
    // In this mode the terminal shows nothing and hands over each key, Ctrl-C too.
    const read = (piece: Buffer | string): void => {
      for (const key of piece.toString()) {
        if (key === '\r' || key === '\n') {
          done(typed.join(''));
          return;
        }
        if (key === interrupt || (key === end && typed.length === 0)) {
          done(null);
          return;
        }
        if (key === backspace || key === erase) typed = typed.slice(0, -1);
        else if (key === clear) typed = [];
        else if (key >= ' ') typed = [...typed, key];
      }
    };
    if (signal.aborted) {
      resolve(null);
      return;
    }
    input.setRawMode?.(true);
    output.write(words);
    input.on('data', read);
    input.resume();
    signal.addEventListener('abort', cancel);
  });
}
