/** What goes to the fork server and what it says; the head of fork-server.pl has the whole. Pure. */
import { programStates, type ProgramState } from './program.js';

/**
 * One frame: the texts with their lengths, and the length of all that before them. Texts are UTF-8. Made as one text that is copied
 * once where all is ASCII, as nearly always.
 */
export function frameOf(texts: readonly string[]): Buffer {
  const all = texts.join('');
  const bytes = Buffer.byteLength(all);
  const size = bytes + 4 * texts.length;
  const frame = Buffer.allocUnsafe(4 + size);
  let at = frame.writeUInt32BE(size, 0);
  if (bytes === all.length) {
    let text = '';
    for (const each of texts) text += word(each.length) + each;
    frame.write(text, at, 'latin1');
    return frame;
  }
  for (const text of texts) {
    const length = frame.write(text, at + 4);
    frame.writeUInt32BE(length, at);
    at += 4 + length;
  }
  return frame;
}

/** Four bytes, big-endian, as latin1. */
function word(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

export interface ForkStart {
  readonly uid: string;
  readonly folder: string;
  /** The command up to the program. */
  readonly before: readonly string[];
  /** Files the program may be. */
  readonly files: readonly string[];
  readonly after: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export function startFrame(start: ForkStart): Buffer {
  const lists = [start.before, start.files, start.after];
  return frameOf([
    'start',
    start.uid,
    start.folder,
    ...lists.flatMap((list) => [String(list.length), ...list]),
    ...Object.entries(start.environment).flat(),
  ]);
}

export function setupFrame(attemptsFolder: string, environment: Readonly<Record<string, string>>): Buffer {
  return frameOf(['setup', attemptsFolder, ...Object.entries(environment).flat()]);
}

export type ForkWord =
  | { readonly kind: 'ready'; readonly pid: number; readonly reaper: number | null }
  | { readonly kind: 'started'; readonly uid: string; readonly pid: number }
  | { readonly kind: 'claimed'; readonly uid: string }
  | { readonly kind: 'fault'; readonly uid: string; readonly fault: ForkFault }
  | {
      readonly kind: 'ended';
      readonly uid: string;
      readonly pid: number;
      readonly code: number | null;
      /** Number of the signal that ended it. */
      readonly signal: number | null;
      readonly groupAlive: boolean;
      readonly claim: string;
    };

export type ForkFault =
  | {
      /** What failed: the attempt's folder, the working folder, the fork, the exec. */
      readonly step: 'attempt' | 'cwd' | 'fork' | 'exec';
      /** Number of the system's error; 0 where it has none for it. */
      readonly errno: number;
      readonly message: string;
    }
  | { readonly step: 'program'; readonly state: ProgramState; readonly index: number };

/** Takes its output (as latin1 text) in pieces of any size. */
export class ForkWords {
  private rest = '';

  /** The words that are complete by now; throws on what is none. */
  push(piece: string): readonly ForkWord[] {
    this.rest += piece;
    const words: ForkWord[] = [];
    let at = 0;
    for (;;) {
      const lineEnd = this.rest.indexOf('\n', at);
      if (lineEnd < 0) break;
      const parts = this.rest.slice(at, lineEnd).split(' ');
      const next = lineEnd + 1 + (parts[0] === 'ended' ? numberOf(parts[5]) : 0);
      if (this.rest.length < next) break;
      words.push(wordOf(parts, this.rest.slice(lineEnd + 1, next)));
      at = next;
    }
    this.rest = this.rest.slice(at);
    return words;
  }
}

function wordOf(parts: readonly string[], claim: string): ForkWord {
  const [kind, uid = '', third, ...detail] = parts;
  switch (kind) {
    case 'ready': {
      const reaper = numberOf(third);
      return { kind, pid: numberOf(uid), reaper: reaper > 0 ? reaper : null };
    }
    case 'started':
      return { kind, uid, pid: numberOf(third) };
    case 'claimed':
      return { kind, uid };
    case 'fault':
      return { kind, uid, fault: faultOf(third, detail) };
    case 'ended': {
      // As waitpid gives it: seven bits of a signal, the one of a core, eight of a code.
      const status = numberOf(detail[0]);
      const signal = status & 127;
      return {
        kind,
        uid,
        pid: numberOf(third),
        code: signal === 0 ? status >> 8 : null,
        signal: signal === 0 ? null : signal,
        groupAlive: detail[1] === '1',
        claim,
      };
    }
    default:
      throw unknownWord(parts.join(' '));
  }
}

function faultOf(step: string | undefined, detail: readonly string[]): ForkFault {
  const [first, ...rest] = detail;
  switch (step) {
    case 'attempt':
    case 'cwd':
    case 'fork':
    case 'exec':
      return { step, errno: numberOf(first), message: rest.join(' ') };
    case 'program': {
      const state = programStates.find((one) => one === first);
      if (state === undefined) throw unknownWord(`fault ${step} ${first}`);
      return { step, state, index: numberOf(rest[0]) };
    }
    default:
      throw unknownWord(`fault ${step}`);
  }
}

function numberOf(text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text)) throw unknownWord(text ?? 'nothing where a number belongs');
  return Number(text);
}

function unknownWord(text: string): Error {
  return new Error(`The fork server said ${JSON.stringify(text.slice(0, 200))}, which is no word of it.`);
}
