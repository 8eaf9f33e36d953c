/** What the tray shows, decided from what is known: icon, words and menu. Pure; tray.ts draws it. */
import { formatWhole } from '../../core/formats/counts.js';

export type TrayIcon = 'idle' | 'running' | 'failed' | 'running-failed' | 'off';

export interface TrayJob {
  readonly id: string;
  readonly name: string;
}

export interface TrayInput {
  /** `starting` and `lost`: no controller now; `failed`: none will be tried. */
  readonly state: 'starting' | 'connected' | 'lost' | 'failed';
  readonly running: number;
  readonly waiting: number;
  /** Failed jobs nobody has looked at. */
  readonly failedUnseen: number;
  /** Running root jobs, newest first; more than are shown is well. */
  readonly runningJobs: readonly TrayJob[];
  readonly notificationsPaused: boolean;
}

export type TrayAction =
  | { readonly kind: 'show' }
  | { readonly kind: 'new-job' }
  | { readonly kind: 'open-job'; readonly jobId: string }
  | { readonly kind: 'stop-job'; readonly jobId: string; readonly name: string }
  | { readonly kind: 'retry-controller' }
  | { readonly kind: 'pause-notifications'; readonly paused: boolean }
  | { readonly kind: 'quit' };

export type TrayItem =
  | { readonly kind: 'action'; readonly label: string; readonly action: TrayAction }
  | { readonly kind: 'check'; readonly label: string; readonly checked: boolean; readonly action: TrayAction }
  | { readonly kind: 'text'; readonly label: string }
  | { readonly kind: 'submenu'; readonly label: string; readonly items: readonly TrayItem[] }
  | { readonly kind: 'separator' };

export interface TrayView {
  readonly icon: TrayIcon;
  readonly tooltip: string;
  readonly menu: readonly TrayItem[];
}

export const mostTrayJobs = 10;
const longestLabel = 60;

export function renderTray(input: TrayInput): TrayView {
  const summary = summarise(input);
  return { icon: iconOf(input), tooltip: `Iris Desktop: ${summary}`, menu: menuOf(input, summary) };
}

function iconOf(input: TrayInput): TrayIcon {
  if (input.state !== 'connected') return 'off';
  if (input.failedUnseen > 0) return input.running > 0 ? 'running-failed' : 'failed';
  return input.running > 0 ? 'running' : 'idle';
}

function summarise(input: TrayInput): string {
  switch (input.state) {
    case 'starting':
      return 'starting';
    case 'lost':
      return 'connecting to the controller';
    case 'failed':
      return 'no controller';
    case 'connected': {
      const parts = [
        ...(input.running > 0 ? [`${formatWhole(input.running)} running`] : []),
        ...(input.waiting > 0 ? [`${formatWhole(input.waiting)} waiting`] : []),
        ...(input.failedUnseen > 0 ? [`${formatWhole(input.failedUnseen)} failed`] : []),
      ];
      return parts.length === 0 ? 'nothing running' : parts.join(', ');
    }
  }
}

function menuOf(input: TrayInput, summary: string): readonly TrayItem[] {
  const shown = input.runningJobs.slice(0, mostTrayJobs);
  const more = Math.max(input.running, input.runningJobs.length) - shown.length;
  const jobs: TrayItem[] = shown.map((job) => ({
    kind: 'submenu',
    label: menuLabel(job.name),
    items: [
      { kind: 'action', label: 'Open', action: { kind: 'open-job', jobId: job.id } },
      {
        kind: 'action',
        label: menuLabel(`Stop ${job.name}`),
        action: { kind: 'stop-job', jobId: job.id, name: job.name },
      },
    ],
  }));
  return [
    { kind: 'text', label: summary.charAt(0).toUpperCase() + summary.slice(1) },
    { kind: 'separator' },
    { kind: 'action', label: 'Show Iris Desktop', action: { kind: 'show' } },
    { kind: 'action', label: 'New job', action: { kind: 'new-job' } },
    ...(input.state === 'failed'
      ? [
          {
            kind: 'action',
            label: 'Start the controller again',
            action: { kind: 'retry-controller' },
          } as const,
        ]
      : []),
    ...(jobs.length > 0 ? [{ kind: 'separator' } as const, ...jobs] : []),
    ...(jobs.length > 0 && more > 0
      ? [{ kind: 'text', label: `and ${formatWhole(more)} more running` } as const]
      : []),
    { kind: 'separator' },
    {
      kind: 'check',
      label: 'Pause notifications',
      checked: input.notificationsPaused,
      action: { kind: 'pause-notifications', paused: !input.notificationsPaused },
    },
    { kind: 'separator' },
    { kind: 'action', label: 'Quit Iris Desktop', action: { kind: 'quit' } },
  ];
}

/** The question before a job is stopped from the tray. Its name is in the text alone: a button takes `_` or `&` as the mark of an access key. */
export function stopQuestion(name: string): { title: string; detail: string; stop: string; failed: string } {
  const shown = shownName(name);
  return {
    title: `Stop ${shown}?`,
    detail: 'Its log and results stay.',
    stop: 'Stop',
    failed: `${shown} was not stopped`,
  };
}

/** Menus take `&` as the mark of an access key, and a job may bear any name. */
function menuLabel(text: string): string {
  return shownName(text).replace(/&/g, '&&');
}

/** As much of it as fits a line. */
function shownName(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  // Cut between code points: half a surrogate pair is no text.
  const points = Array.from(clean);
  return points.length > longestLabel ? `${points.slice(0, longestLabel - 1).join('')}…` : clean;
}
