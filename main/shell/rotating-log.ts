/** The desktop's own log: errors and refusals of the shell, one line each, bounded by rotation. Readable by the owner only. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface RotatingLog {
  readonly file: string;
  /** Never throws: a log that cannot be written must not take the app down with it. */
  write(level: 'info' | 'warn' | 'error', message: string): void;
}

/** `maxBytes` for the current file; one older file of the same size is kept beside it. */
export function openRotatingLog(
  file: string,
  maxBytes = 1_000_000,
  now: () => Date = () => new Date(),
): RotatingLog {
  function rotateWhenFull(): void {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size >= maxBytes) renameSync(file, `${file}.1`);
  }
  return {
    file,
    write(level, message) {
      // Log text can come from job names and pages: one entry stays one line.
      const text = message.replace(/\r?\n/g, '\n    ').replace(/[\0-\x08\x0b-\x1f\x7f]/g, '?');
      const line = `${now().toISOString()} ${level} ${text}\n`;
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        rotateWhenFull();
        // Synchronous on purpose: the lines that matter most are written while the process is dying.
        appendFileSync(file, line, { mode: 0o600 });
      } catch (error) {
        process.stderr.write(`The log ${file} cannot be written (${String(error)}): ${line}`);
      }
    },
  };
}
