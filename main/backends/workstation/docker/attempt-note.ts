/** What is known of an attempt in a container, kept in its folder for whoever comes after a restart. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { causeSchema } from '../../../../core/contract/views.js';
import { isErrorCode } from '../process/error-code.js';

const endSchema = z.strictObject({
  state: z.enum(['SUCCEEDED', 'FAILED', 'KILLED', 'WORKER_FAILED', 'MISSING']),
  finishedAtMs: z.number(),
  startedAtMs: z.number().nullable(),
  durationMs: z.number().nullable(),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  cause: causeSchema.nullable(),
});
export type AttemptEnd = z.infer<typeof endSchema>;

const noteSchema = z.strictObject({
  /**
   * asked: nothing has run; set-up: its scripts may have; prepared: they have; created: its container was made, so the command may
   * have run; ended: it has, or never will.
   */
  phase: z.enum(['asked', 'set-up', 'prepared', 'created', 'ended']),
  containerId: z.string().nullable(),
  end: endSchema.nullable(),
});
export type AttemptNote = z.infer<typeof noteSchema>;

export const noteFile = (folder: string): string => path.join(folder, 'container.json');

/** Stands for one that is there and cannot be read, as after a power cut: its command may have run, and only the Engine knows. */
export const unreadable: AttemptNote = { phase: 'created', containerId: null, end: null };

/** Null: nobody has begun with it. */
export function readNote(folder: string): AttemptNote | null {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(noteFile(folder), 'utf8')));
  } catch (error) {
    return isErrorCode(error, 'ENOENT') || isErrorCode(error, 'ENOTDIR') ? null : unreadable;
  }
}

/** Whole or not at all. */
export function writeNote(folder: string, note: AttemptNote): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeWhole(noteFile(folder), JSON.stringify(note));
}

export function writeWhole(file: string, text: string): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}
