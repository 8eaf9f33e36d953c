/** Where irisctl writes. Results to standard output, all else to standard error; bytes are never changed. */
import type { Writable } from 'node:stream';
import type { Refusal } from '../../core/contract/errors.js';
import { colourStates, localTimes, printable } from './format.js';

export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Output {
  readonly json: boolean;
  /** Several tasks' lines are told apart by a prefix on a terminal. */
  readonly isTerminal: boolean;
  /** Columns of the terminal that both streams are on; null: they are not, or it does not tell. */
  readonly columns: number | null;
  /** A result for people. */
  text(text: string): Promise<void>;
  /** A result for programs: one JSON text and a line break. */
  value(value: unknown): Promise<void>;
  /** Log bytes. Resolves when the stream takes more; with `false` when its reader is gone. */
  bytes(stream: 'out' | 'err', data: Uint8Array): Promise<boolean>;
  /** One sentence on standard error, after the program's name. */
  note(sentence: string): Promise<void>;
  /** A refusal: the sentence on standard error, with `--json` also `{"error":...}` on standard output. */
  refusal(refusal: Refusal): Promise<void>;
  /** True once the reader of standard output has gone away, or nothing more can be written there. */
  readonly outputGone: boolean;
  /** Resolves when all that was written has left: false when a part could not be written for another reason than a reader that left. */
  whole(): Promise<boolean>;
}

const streamWords = { out: 'standard output', err: 'standard error' } as const;

export function createOutput(
  streams: { out: OutputStream; err: OutputStream },
  options: { json: boolean; colour: boolean },
): Output {
  const gone = { out: false, err: false };
  let isWhole = true;
  // Without a listener a reader that went away (`| head`) would end us with a stack trace.
  for (const name of ['out', 'err'] as const) {
    streams[name].on('error', (error: NodeJS.ErrnoException) => {
      if (gone[name]) return;
      gone[name] = true;
      if (error.code === 'EPIPE') return;
      // What asked for the output must not take a part of it for all: a file on a full disk, say.
      isWhole = false;
      void output.note(`${streamWords[name]} cannot be written to: ${error.message}.`);
    });
  }

  function write(name: 'out' | 'err', data: Uint8Array | string): Promise<boolean> {
    const stream = streams[name];
    if (gone[name] || stream.destroyed) return Promise.resolve(false);
    if (stream.write(data)) return Promise.resolve(!gone[name]);
    return new Promise((resolve) => {
      const done = () => {
        stream.off('drain', done);
        stream.off('close', done);
        stream.off('error', done);
        resolve(!gone[name]);
      };
      stream.on('drain', done);
      stream.on('close', done);
      stream.on('error', done);
    });
  }

  const output: Output = {
    json: options.json,
    isTerminal: streams.out.isTTY === true,
    get columns() {
      const { out, err } = streams;
      // Some say 0 where they do not know.
      return out.isTTY === true && err.isTTY === true ? out.columns || null : null;
    },
    get outputGone() {
      return gone.out;
    },
    async whole() {
      for (const name of ['out', 'err'] as const)
        await new Promise<void>((resolve) => streams[name].write('', () => resolve()));
      return isWhole;
    },
    async text(sentences) {
      const text = localTimes(sentences);
      await write('out', options.colour && streams.out.isTTY === true ? colourStates(text) : text);
    },
    async value(value) {
      await write('out', `${JSON.stringify(value)}\n`);
    },
    // With --json standard output holds the result alone, so the log goes beside it.
    bytes: (stream, data) => write(options.json ? 'err' : stream, data),
    async note(sentence) {
      await write('err', `irisctl: ${printable(localTimes(sentence))}\n`);
    },
    async refusal(refusal) {
      await output.note(refusal.message);
      // The sentence names the first wrong field, and the others get a line each; where none is wrong it names them all.
      for (const field of refusal.code === 'INVALID_ARGUMENT' ? refusal.fields.slice(1) : []) {
        await output.note(`${field.field}: ${field.value} is not valid; expected ${field.expected}.`);
      }
      if (options.json) await output.value({ error: refusal });
    },
  };
  return output;
}
