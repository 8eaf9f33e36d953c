/**
 * What was written and not submitted, kept while the window lives: of a new job, and of the job that was edited last. Leaving the page by a
 * wrong key must not cost what was typed.
 */
import { emptyForm, formToRequest, readDraft, type JobForm } from './form-model.js';
import { requestToYaml } from '../../../core/contract/job-yaml.js';

export interface Draft {
  readonly form: JobForm;
  /** As it was written, where the job was looked at as YAML. */
  readonly yaml: string | null;
}

const keys = { fresh: 'iris.new-job.draft', edited: 'iris.new-job.edited' } as const;

const keyOf = (from: string | null): string => (from === null ? keys.fresh : keys.edited);

/** `from`: the job that is edited; null for a new one. */
export function keptDraft(from: string | null): Draft | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(keyOf(from)) ?? 'null');
    if (typeof value !== 'object' || value === null) return null;
    const kept = new Map<string, unknown>(Object.entries(value));
    if (kept.get('from') !== from) return null;
    const form = readDraft(JSON.stringify(kept.get('form') ?? null));
    const yaml = kept.get('yaml');
    return form === null ? null : { form, yaml: typeof yaml === 'string' ? yaml : null };
  } catch {
    return null;
  }
}

/** Keeps it, or forgets what was kept where it says no more than `start` does. */
export function keepDraft(from: string | null, draft: Draft, start: JobForm): void {
  if (isWorthless(draft, start)) {
    forgetDraft(from);
    return;
  }
  try {
    sessionStorage.setItem(keyOf(from), JSON.stringify({ from, ...draft }));
  } catch {
    // Staged files may be more than the store holds. An older state of it would be worse than none.
    forgetDraft(from);
  }
}

/** What was sent and has no answer yet, so that sending it again, from the form come back to as well, makes no second job. */
const sentKey = 'iris.new-job.sent';

/** One whose answer was lost is sent again soon or never. */
const mostSent = 8;

interface Sent {
  /** The request as it was sent. */
  readonly text: string;
  readonly id: string;
}

/** The last ones sent come last. */
function allSent(): Sent[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(sentKey) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((item: unknown) => {
      const [text, id] = Array.isArray(item) ? (item as readonly unknown[]) : [];
      return typeof text === 'string' && typeof id === 'string' ? [{ text, id }] : [];
    });
  } catch {
    return [];
  }
}

/** The id under which this very request was sent and not answered. */
export function keptSent(text: string): string | null {
  return allSent().find((sent) => sent.text === text)?.id ?? null;
}

export function keepSent(text: string, id: string): void {
  const others = allSent().filter((sent) => sent.id !== id);
  // Requests with staged files are long: where there is no room for all, the ones sent longest ago go first.
  for (let all = [...others, { text, id }].slice(-mostSent); ; all = all.slice(1)) {
    if (putSent(all)) return;
  }
}

export function forgetSent(id: string): void {
  putSent(allSent().filter((sent) => sent.id !== id));
}

/** Whether there was room. */
function putSent(all: readonly Sent[]): boolean {
  if (all.length === 0) {
    sessionStorage.removeItem(sentKey);
    return true;
  }
  try {
    sessionStorage.setItem(sentKey, JSON.stringify(all.map(({ text, id }) => [text, id])));
    return true;
  } catch {
    return false;
  }
}

export function forgetDraft(from: string | null): void {
  sessionStorage.removeItem(keyOf(from));
}

export function isWorthless({ form, yaml }: Draft, start: JobForm): boolean {
  const written = JSON.stringify(form);
  if (written !== JSON.stringify(start) && written !== JSON.stringify(emptyForm)) return false;
  if (yaml === null) return true;
  const request = formToRequest(form);
  return request.ok && requestToYaml(request.value) === yaml;
}
