/** Which part of the job is shown, as text in the address: `logs`, `logs.3`, `logs.3.1` (task, attempt), `tasks.3`, `details`. */

export const jobTabs = ['logs', 'tasks', 'graphs', 'children', 'details'] as const;
export type JobTab = (typeof jobTabs)[number];

export interface JobPlace {
  readonly tab: JobTab;
  readonly task: number | null;
  readonly attempt: number | null;
}

export function parseJobPlace(text: string | null): JobPlace | null {
  const match = /^(logs|tasks|graphs|children|details)(?:\.(\d{1,6})(?:\.(\d{1,6}))?)?$/.exec(text ?? '');
  const tab = jobTabs.find((candidate) => candidate === match?.[1]);
  if (tab === undefined) return null;
  return {
    tab,
    task: match?.[2] === undefined ? null : Number(match[2]),
    attempt: match?.[3] === undefined ? null : Number(match[3]),
  };
}

export function jobPlaceText(tab: JobTab, task: number | null = null, attempt: number | null = null): string {
  return [
    tab,
    ...(task === null ? [] : [task]),
    ...(task === null || attempt === null ? [] : [attempt]),
  ].join('.');
}
