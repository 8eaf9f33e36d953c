/** The Engine's own log file (driver json-file): one record a line, lines over 16 KB in several records. */
import { z } from 'zod';
import type { LogStream } from './log-frames.js';

const recordSchema = z.object({ log: z.string(), stream: z.string(), time: z.string() });

export interface JsonFileLine {
  readonly stream: LogStream;
  /** Without its end of line. */
  readonly text: string;
  /** When it began. */
  readonly time: string;
}

/** Joins records until one ends with a newline. A record that is no JSON (cut by a full disk) is left out. */
export function readJsonFile(text: string): JsonFileLine[] {
  const lines: JsonFileLine[] = [];
  const open = new Map<LogStream, { text: string; time: string }>();
  for (const row of text.split('\n')) {
    const record = readRecord(row);
    if (record === null) continue;
    const stream = record.stream === 'stderr' ? 'err' : 'out';
    const before = open.get(stream);
    const joined = { text: (before?.text ?? '') + record.log, time: before?.time ?? record.time };
    if (joined.text.endsWith('\n')) {
      lines.push({ stream, text: joined.text.slice(0, -1), time: joined.time });
      open.delete(stream);
    } else open.set(stream, joined);
  }
  for (const [stream, { text: rest, time }] of open) lines.push({ stream, text: rest, time });
  return lines;
}

function readRecord(row: string): z.infer<typeof recordSchema> | null {
  if (row.trim() === '') return null;
  try {
    return recordSchema.parse(JSON.parse(row));
  } catch {
    return null;
  }
}
