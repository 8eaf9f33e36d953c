/** Puts the logs of several tasks onto two streams without ever mixing two lines. */
import { columnsOf, firstColumns, withoutControls } from '../../core/formats/terminal-text.js';
import type { Output } from './output.js';

type Stream = 'out' | 'err';

/** The unfinished lines as they were printed last, where the log does not have that; see the topic `log`. */
export type LogHeard = Readonly<Record<Stream, string>>;

export interface LogSink {
  /** Unfinished lines go out as they come. */
  readonly inPieces?: boolean;
  /** Bytes of one stream, in order. Resolves when more is welcome. */
  write(stream: Stream, data: Uint8Array): Promise<void>;
  /** To be shown behind what was written until more is, for people alone: the log brings the bytes themselves. Absent: it cannot be taken back. */
  heard?(heard: LogHeard): Promise<void>;
  /** The attempt has ended. */
  end(): Promise<void>;
}

/** A line longer than this is written in pieces rather than held. */
const maxHeldBytes = 1024 * 1024;
const lineFeed = 0x0a;

/** One task: its bytes, unchanged; on a terminal what is heard of an unfinished line is drawn over it, and taken off before what follows. */
export function rawSink(output: Output): LogSink {
  return output.columns !== null && !output.json ? terminalSink(output) : plainSink(output);
}

const clearLine = '\r\x1b[K';
/** Of an unfinished line that is drawn again. */
const mostRedrawn = 4096;
const movesVertically = /\x1b\[[0-9;:]*[ABEF]/;

function terminalSink(output: Output): LogSink {
  const plain = plainSink(output);
  /** The last state of the line that is not whole. */
  let line = '';
  let covered = '';
  const show = (text: string) => output.bytes('out', Buffer.from(text, 'latin1'));
  const uncover = async (): Promise<void> => {
    if (covered !== '') await show(clearLine + line);
    covered = '';
  };
  return {
    inPieces: true,
    async write(stream, data) {
      await uncover();
      await plain.write(stream, data);
      // A letter a byte, so that nothing is cut in its middle.
      const text = line + Buffer.from(data.subarray(-mostRedrawn)).toString('latin1');
      const whole = text.slice(text.lastIndexOf('\n') + 1);
      const ended = whole.replace(/\r+$/, '');
      line = whole.slice(ended.lastIndexOf('\r') + 1).slice(-mostRedrawn);
    },
    async heard(heard) {
      const next = coverOf(line, heard.err === '' ? heard.out : heard.err, output.columns ?? 0);
      if (next === covered) return;
      if (next === '') {
        await uncover();
        return;
      }
      covered = next;
      await output.bytes('out', Buffer.from(clearLine + next));
    },
    async end() {
      await uncover();
      await plain.end();
    },
  };
}

/** On one row, as no more can be taken off. Empty: the line itself takes several, or nothing was heard. */
function coverOf(line: string, heard: string, columns: number): string {
  const below = Buffer.from(line, 'latin1').toString();
  if (heard === '' || columnsOf(below) >= columns || movesVertically.test(below)) return '';
  const text = heard.startsWith('\r') ? heard.slice(1) : `${below}…${heard}`;
  return firstColumns(withoutControls(text).trimEnd(), columns - 1);
}

function plainSink(output: Output): LogSink {
  return {
    inPieces: true,
    async write(stream, data) {
      await output.bytes(stream, data);
    },
    end: () => Promise.resolve(),
  };
}

/** One of several tasks: whole lines, each after `prefix`; a last line without an end gets one, since others follow. */
export function lineSink(output: Output, prefix: string): LogSink {
  const mark = Buffer.from(prefix);
  const held: Record<Stream, Buffer[]> = { out: [], err: [] };
  const heldBytes: Record<Stream, number> = { out: 0, err: 0 };
  /** The line's prefix was written with an earlier piece of it. */
  const inside: Record<Stream, boolean> = { out: false, err: false };

  function prefixed(stream: Stream, data: Buffer): Buffer {
    if (mark.length === 0) return data;
    const parts: Buffer[] = [];
    let start = 0;
    while (start < data.length) {
      const feed = data.indexOf(lineFeed, start);
      const end = feed < 0 ? data.length : feed + 1;
      if (!inside[stream]) parts.push(mark);
      parts.push(data.subarray(start, end));
      inside[stream] = feed < 0;
      start = end;
    }
    return Buffer.concat(parts);
  }

  async function flush(stream: Stream, data: Buffer): Promise<void> {
    if (data.length > 0) await output.bytes(stream, prefixed(stream, data));
  }

  return {
    async write(stream, data) {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      const last = bytes.lastIndexOf(lineFeed);
      const rest = bytes.subarray(last + 1);
      if (last >= 0) {
        const whole = Buffer.concat([...held[stream], bytes.subarray(0, last + 1)]);
        held[stream] = [];
        heldBytes[stream] = 0;
        await flush(stream, whole);
      }
      if (rest.length > 0) held[stream].push(rest);
      heldBytes[stream] += rest.length;
      if (heldBytes[stream] > maxHeldBytes) {
        const piece = Buffer.concat(held[stream]);
        held[stream] = [];
        heldBytes[stream] = 0;
        await flush(stream, piece);
      }
    },
    async end() {
      for (const stream of ['out', 'err'] as const) {
        const rest = Buffer.concat(held[stream]);
        held[stream] = [];
        heldBytes[stream] = 0;
        if (rest.length > 0 || inside[stream])
          await flush(stream, Buffer.concat([rest, Buffer.of(lineFeed)]));
        inside[stream] = false;
      }
    },
  };
}

/** `goesOn`: its line is longer than is held, and what follows of this stream belongs to it. */
export type EmitLine = (stream: Stream, text: string, goesOn: boolean) => Promise<void>;

/** Whole lines as text for programs; bytes that are no UTF-8 become the replacement character. */
export function jsonSink(emit: EmitLine): LogSink {
  const decoders = { out: new TextDecoder(), err: new TextDecoder() };
  const held: Record<Stream, string[]> = { out: [], err: [] };
  const heldLength: Record<Stream, number> = { out: 0, err: 0 };

  function hold(stream: Stream, text: string): void {
    if (text !== '') held[stream].push(text);
    heldLength[stream] += text.length;
  }

  function take(stream: Stream): string {
    heldLength[stream] = 0;
    return held[stream].splice(0).join('');
  }

  return {
    async write(stream, data) {
      const lines = decoders[stream].decode(data, { stream: true }).split('\n');
      const rest = lines.pop() ?? '';
      for (const line of lines) {
        hold(stream, line);
        await emit(stream, take(stream), false);
      }
      hold(stream, rest);
      if (heldLength[stream] > maxHeldBytes) await emit(stream, take(stream), true);
    },
    async end() {
      for (const stream of ['out', 'err'] as const) {
        hold(stream, decoders[stream].decode());
        const rest = take(stream);
        if (rest !== '') await emit(stream, rest, false);
      }
    },
  };
}
