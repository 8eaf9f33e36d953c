/**
 * Paths that name things: a job is `/user/job[/child...]`, a task its job's path plus `/index`, an attempt its task's plus
 * `:number` (`/user/job/0:2`). A path of three or more parts whose last part is all digits is a task; so that no path means two
 * things, a child job may not be called by digits alone (`/user/job/3`) or by digits, a colon and digits. A root job may: its
 * path has two parts and is never a task.
 */
import { ok, refuse, type Result } from '../contract/errors.js';

export const maxNamePartLength = 255;
const forbidden = /[/\p{Cc}]/u;
const digits = /^\d+$/;
const taskLike = /^\d+(:\d+)?$/;

export type ParsedName =
  | { readonly kind: 'job'; readonly jobId: string }
  | { readonly kind: 'task'; readonly jobId: string; readonly taskId: string; readonly index: number }
  | {
      readonly kind: 'attempt';
      readonly jobId: string;
      readonly taskId: string;
      readonly index: number;
      readonly number: number;
    };

function refuseName<T>(field: string, value: string, expected: string): Result<T> {
  const shown = value === '' ? 'empty text' : value.length > 80 ? `${value.slice(0, 77)}...` : value;
  return refuse('INVALID_ARGUMENT', `${field}: ${shown} is not valid; expected ${expected}.`, [
    { field, value: shown, expected },
  ]);
}

/** Reads a path of a job, a task or an attempt. */
export function parseName(text: string): Result<ParsedName> {
  const expected = 'a path such as /user/job, /user/job/0 (a task) or /user/job/0:2 (an attempt)';
  if (!text.startsWith('/')) return refuseName('id', text, expected);
  const parts = text.slice(1).split('/');
  const last = parts.at(-1);
  if (parts.length < 2 || last === undefined || parts.some((part) => part.trim() === '')) {
    return refuseName('id', text, expected);
  }
  if (parts.length < 3 || !taskLike.test(last)) return ok({ kind: 'job', jobId: text });
  const jobId = `/${parts.slice(0, -1).join('/')}`;
  const [indexText = '', numberText] = last.split(':');
  const index = Number(indexText);
  const taskId = taskIdOf(jobId, index);
  if (numberText === undefined) return ok({ kind: 'task', jobId, taskId, index });
  return ok({ kind: 'attempt', jobId, taskId, index, number: Number(numberText) });
}

export function taskIdOf(jobId: string, index: number): string {
  return `${jobId}/${index}`;
}

export function attemptNameOf(taskId: string, number: number): string {
  return `${taskId}:${number}`;
}

/** Path of a job called `name` below its parent, or of a root job of that user. */
export function jobIdOf(user: string, parentId: string | null, name: string): string {
  return `${parentId ?? `/${user}`}/${name}`;
}

/** Jobs share a name when user, parent and name are the same; case does not matter, as the original stores names in lower case. */
export function nameKey(user: string, parentId: string | null, name: string): string {
  return jobIdOf(user, parentId, name.toLowerCase());
}

/** Root jobs have depth 1. */
export function depthOf(jobId: string): number {
  return jobId.split('/').length - 2;
}

/** Checks one part: the user, or a job's own name; `child` forbids what would read as a task or an attempt. */
export function checkNamePart(field: string, name: string, child: boolean): Result<string> {
  if (name.trim() === '' || name.trim() !== name || forbidden.test(name) || name.length > maxNamePartLength) {
    return refuseName(
      field,
      name,
      `1 to ${maxNamePartLength} characters without /, control characters or blanks at the ends`,
    );
  }
  if (child && taskLike.test(name)) {
    return refuseName(
      field,
      name,
      `a name that is not only digits, because /user/job/${digits.test(name) ? name : '3'} names a task of the parent`,
    );
  }
  return ok(name);
}

/** Name for a job that was given none: `iris-run-<program>-<suffix>`; the suffix comes from the caller. */
export function generatedName(command: readonly string[], suffix: string): string {
  const program = (command[0] ?? '').split(/[/\\]/).at(-1) ?? '';
  const cleaned = program
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 40);
  return `iris-run-${cleaned === '' ? 'job' : cleaned}-${suffix}`;
}

/** `<name>-<suffix>`, the name cut so that the whole is still a valid part. `round` tells repeated tries apart. */
export function suffixedName(name: string, suffix: string, round: number): string {
  const tail = round <= 1 ? `-${suffix}` : `-${suffix}-${round}`;
  return `${cutText(name, maxNamePartLength - tail.length)}${tail}`;
}

/** Cuts at a length without leaving half of a surrogate pair. */
function cutText(text: string, length: number): string {
  const cut = text.slice(0, Math.max(1, length));
  return /[\uD800-\uDBFF]$/.test(cut) && cut.length < text.length ? cut.slice(0, -1) : cut;
}
