/** What closing the window and quitting mean: decided here from settings, tray and jobs; asking and doing are given. */
import type { ClosingAnswer, DesktopSettings } from '../../core/contract/desktop-bridge.js';

export type QuitChoice = 'quit' | 'stop-queue' | 'cancel';

export interface LeavingOptions {
  readonly hasTrayHost: () => Promise<boolean>;
  readonly settings: () => DesktopSettings;
  readonly keepChoice: (choice: 'tray' | 'quit') => void;
  /** Running and waiting jobs as of now, asked of the controller; null while not known. */
  readonly jobsNow: () => Promise<{ readonly running: number; readonly waiting: number } | null>;
  /** Asks in the page; false when the page cannot be asked now. */
  readonly askPage: (runningJobs: number) => boolean;
  /** The same question in a dialog of the system. */
  readonly askTrayOrQuit: (unfinished: number) => Promise<ClosingAnswer>;
  readonly askQuit: (unfinished: number) => Promise<QuitChoice>;
  readonly hideWindow: () => void;
  readonly quit: (stopQueue: boolean) => void;
  readonly log: (line: string) => void;
}

export interface Leaving {
  /** The user closes the window; true lets it close. */
  windowCloses(): boolean;
  /** The page's answer to its question. */
  answered(answer: ClosingAnswer): void;
  /** Quit was chosen in a menu: asks only when jobs are unfinished. */
  quitChosen(): void;
  /** From now on windows may close. */
  begin(): void;
}

function unfinished(jobs: { readonly running: number; readonly waiting: number } | null): number {
  return jobs === null ? 0 : jobs.running + jobs.waiting;
}

export function createLeaving(options: LeavingOptions): Leaving {
  let leaving = false;
  /** The page was asked and has not answered. */
  let pageAsked = false;
  /** A decision is under way; further presses of the close button change nothing. */
  let deciding = false;

  async function decide(): Promise<void> {
    if (!(await options.hasTrayHost())) {
      // Never hidden where nothing could bring it back.
      await quitAsking();
      return;
    }
    const choice = options.settings().closeToTray;
    if (choice === 'tray') {
      options.hideWindow();
      return;
    }
    if (choice === 'quit') {
      await quitAsking();
      return;
    }
    const jobs = await options.jobsNow();
    // Closed again while the page was asked: the page may be stuck, so the system asks.
    if (!pageAsked && options.askPage(jobs?.running ?? 0)) pageAsked = true;
    else follow(await options.askTrayOrQuit(unfinished(jobs)));
  }

  async function quitAsking(): Promise<void> {
    const jobs = unfinished(await options.jobsNow());
    const choice = jobs > 0 ? await options.askQuit(jobs) : 'quit';
    if (choice !== 'cancel') leave(choice === 'stop-queue');
  }

  function leave(stopQueue: boolean): void {
    leaving = true;
    options.quit(stopQueue);
  }

  /** A choice that cannot be written down is asked for again next time; it holds now. */
  function keep(choice: 'tray' | 'quit'): void {
    try {
      options.keepChoice(choice);
    } catch (error) {
      options.log(`What closing the window means cannot be kept: ${String(error)}`);
    }
  }

  function follow(answer: ClosingAnswer): void {
    if (answer.choice === 'cancel') return;
    if (answer.remember) keep(answer.choice);
    if (answer.choice === 'tray') options.hideWindow();
    // The question itself said what becomes of the jobs.
    else leave(false);
  }

  function once(work: () => Promise<void>): void {
    if (deciding || leaving) return;
    deciding = true;
    work()
      .catch((error: unknown) => options.log(`Closing failed: ${String(error)}`))
      .finally(() => {
        deciding = false;
      });
  }

  return {
    windowCloses() {
      if (leaving) return true;
      once(decide);
      return false;
    },
    answered(answer) {
      // An answer nobody asked for must not quit the app. The system's question may have been answered since: the page's still stands there.
      if (!pageAsked || leaving) return;
      pageAsked = false;
      follow(answer);
    },
    quitChosen() {
      once(quitAsking);
    },
    begin() {
      leaving = true;
    },
  };
}
