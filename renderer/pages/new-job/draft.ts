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

/** What was sent last and has no answer yet, so that sending it again, from the form come back to as well, makes no second job. */
const sentKey = 'iris.new-job.sent';

/** The id under which this very request was sent and not answered. */
export function keptSent(text: string): string | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(sentKey) ?? 'null');
    if (!Array.isArray(kept) || kept[0] !== text) return null;
    const id: unknown = kept[1];
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

export function keepSent(text: string, id: string): void {
  try {
    sessionStorage.setItem(sentKey, JSON.stringify([text, id]));
  } catch {
    // No room for it: one that was sent before must not be taken for this.
    sessionStorage.removeItem(sentKey);
  }
}

export function forgetSent(id: string): void {
  if (sessionStorage.getItem(sentKey)?.endsWith(`"${id}"]`) === true) sessionStorage.removeItem(sentKey);
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
