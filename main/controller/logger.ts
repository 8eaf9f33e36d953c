/** The host's own log: one JSON object a line, in a file that is rotated once and so never grows beyond twice its bound. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';

export type LogLevel = 'info' | 'warn' | 'error';

export interface Logger {
  info(message: string, detail?: Readonly<Record<string, unknown>>): void;
  warn(message: string, detail?: Readonly<Record<string, unknown>>): void;
  error(message: string, detail?: Readonly<Record<string, unknown>>): void;
}

const maxFileBytes = 4 * 1024 * 1024;

/** Repeats of one message within this time are counted instead of written, so that a lasting fault cannot fill the disk. */
const repeatWindowMs = 60_000;

export function createFileLogger(folder: string, name: string, nowMs: () => number): Logger {
  const file = path.join(folder, `${name}.log`);
  let size = currentSize(file);
  const recent = new Map<string, { sinceMs: number; suppressed: number }>();

  function write(level: LogLevel, message: string, detail: Readonly<Record<string, unknown>>): void {
    const now = nowMs();
    const seen = recent.get(`${level} ${message}`);
    if (level !== 'info' && seen !== undefined && now - seen.sinceMs < repeatWindowMs) {
      seen.suppressed += 1;
      return;
    }
    if (recent.size > 200) recent.clear();
    recent.set(`${level} ${message}`, { sinceMs: now, suppressed: 0 });
    const repeated = seen === undefined || seen.suppressed === 0 ? {} : { repeatedBefore: seen.suppressed };
    const line = `${JSON.stringify({ at: new Date(now).toISOString(), level, message, ...repeated, ...detail })}\n`;
    try {
      if (size > maxFileBytes) {
        renameSync(file, `${file}.1`);
        size = 0;
      }
      appendFileSync(file, line, { mode: 0o600 });
      size += Buffer.byteLength(line);
    } catch {
      // The log is a help, not a promise: on a full disk the host goes on without it and says so through its health.
      size = 0;
    }
  }

  return {
    info: (message, detail = {}) => write('info', message, detail),
    warn: (message, detail = {}) => write('warn', message, detail),
    error: (message, detail = {}) => write('error', message, detail),
  };
}

function currentSize(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/** An error as plain data for the log. */
export function describeError(error: unknown): { error: string; stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) };
  return error.stack === undefined ? { error: error.message } : { error: error.message, stack: error.stack };
}
