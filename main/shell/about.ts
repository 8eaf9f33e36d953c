/** About: which version this is and what it runs on, for reports of faults. */
import { dialog, type BrowserWindow } from 'electron';

export interface AboutFacts {
  readonly appVersion: string;
  readonly runtime: string;
  readonly home: string;
  readonly logFile: string;
  readonly notificationsSupported: boolean;
}

export function aboutText(facts: AboutFacts, versions: Readonly<Record<string, string | undefined>>): string {
  return [
    facts.runtime,
    `Chromium ${versions['chrome'] ?? 'unknown'}, Node ${versions['node'] ?? 'unknown'}`,
    `Data folder: ${facts.home}`,
    `Log: ${facts.logFile}`,
    ...(facts.notificationsSupported
      ? []
      : ['This desktop has no notification service: ended jobs are listed in the app only.']),
  ].join('\n');
}

export async function showAbout(facts: AboutFacts, window: BrowserWindow | null): Promise<void> {
  const options = {
    type: 'info' as const,
    title: 'About Iris Desktop',
    message: `Iris Desktop ${facts.appVersion}`,
    detail: aboutText(facts, process.versions),
    buttons: ['Close'],
  };
  await (window === null ? dialog.showMessageBox(options) : dialog.showMessageBox(window, options));
}
