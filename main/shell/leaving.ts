/** What closing the window and quitting mean: decided here from settings, tray and jobs; asking and doing are given. */
import type { ClosingAnswer, DesktopSettings } from '../../core/contract/desktop-bridge.js';

export type QuitChoice = 'quit' | 'stop-queue' | 'cancel';

export interface LeavingOptions {
  readonly hasTrayHost: () => Promise<boolean>;
  readonly settings: () => DesktopSettings;
  readonly keepChoice: (choice: 'tray' | 'quit') => void;
  /** Running and waiting jobs; null while not known. */
  readonly unfinishedJobs: () => number | null;
  readonly runningJobs: () => number;
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

export function createLeaving(options: LeavingOptions): Leaving {
  let leaving = false;
  /** The page was asked and has not answered. */
  let pageAsked = false;
  /** A decision is under way; further presses of the close button change nothing. */
  let deciding = false;

  async function decide(): Promise<void> {
    const unfinished = options.unfinishedJobs() ?? 0;
    if (!(await options.hasTrayHost())) {
      // Never hidden where nothing could bring it back.
      await quitAsking(unfinished);
      return;
    }
    const choice = options.settings().closeToTray;
    if (choice === 'tray') options.hideWindow();
    else if (choice === 'quit') await quitAsking(unfinished);
    // Closed again while the page was asked: the page may be stuck, so the system asks.
    else if (!pageAsked && options.askPage(options.runningJobs())) pageAsked = true;
    else answered(await options.askTrayOrQuit(unfinished));
  }

  async function quitAsking(unfinished: number): Promise<void> {
    const choice = unfinished > 0 ? await options.askQuit(unfinished) : 'quit';
    if (choice !== 'cancel') leave(choice === 'stop-queue');
  }

  function leave(stopQueue: boolean): void {
    leaving = true;
    options.quit(stopQueue);
  }

  function answered(answer: ClosingAnswer): void {
    pageAsked = false;
    if (answer.choice === 'cancel') return;
    if (answer.remember) options.keepChoice(answer.choice);
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
      // An answer nobody asked for must not quit the app.
      if (pageAsked) answered(answer);
    },
    quitChosen() {
      once(() => quitAsking(options.unfinishedJobs() ?? 0));
    },
    begin() {
      leaving = true;
    },
  };
}
