/** The questions on leaving, as dialogs of the system: where the page cannot ask, or the choice has more to it. */
import { dialog, type BrowserWindow, type MessageBoxOptions } from 'electron';
import type { ClosingAnswer } from '../../core/contract/desktop-bridge.js';
import type { QuitChoice } from './leaving.js';
import { eitherWayWords, unfinishedWords } from './leaving-words.js';

async function ask(window: BrowserWindow | null, options: MessageBoxOptions) {
  return window?.isVisible() === true
    ? dialog.showMessageBox(window, options)
    : dialog.showMessageBox(options);
}

export async function askQuit(window: BrowserWindow | null, unfinished: number): Promise<QuitChoice> {
  const { response } = await ask(window, {
    type: 'question',
    message: 'Quit Iris Desktop?',
    detail: `${unfinishedWords(unfinished)} Running jobs keep running and waiting ones start when their turn comes; Iris goes on without a window. With the queue stopped, running jobs still run to their end, but nothing waiting starts until Iris runs again.`,
    buttons: ['Quit', 'Quit and stop the queue', 'Cancel'],
    defaultId: 0,
    cancelId: 2,
  });
  return response === 0 ? 'quit' : response === 1 ? 'stop-queue' : 'cancel';
}

export async function askTrayOrQuit(
  window: BrowserWindow | null,
  unfinished: number,
): Promise<ClosingAnswer> {
  const { response, checkboxChecked } = await ask(window, {
    type: 'question',
    message: 'Keep Iris Desktop in the tray?',
    detail: `${eitherWayWords(unfinished)}In the tray it goes on telling you when jobs end.`,
    buttons: ['Keep in tray', 'Quit', 'Cancel'],
    checkboxLabel: 'Do the same next time',
    checkboxChecked: true,
    defaultId: 0,
    cancelId: 2,
  });
  const choice = response === 0 ? 'tray' : response === 1 ? 'quit' : 'cancel';
  return { choice, remember: choice !== 'cancel' && checkboxChecked };
}
