/** Answers the system's message boxes in place of a person, and keeps what they asked. */
import type { ElectronApplication } from '@playwright/test';
import { inMain, inMainWith } from './electron.js';

/** Each box from now on is answered with the button of this text. */
export async function answerDialogs(app: ElectronApplication, button: string): Promise<void> {
  await inMainWith(app, button, ({ dialog }, wanted) => {
    const world = globalThis as unknown as { asked?: string[] };
    world.asked ??= [];
    const asked = world.asked;
    dialog.showMessageBox = (...given: unknown[]) => {
      const options = given.at(-1) as { message: string; detail?: string; buttons: string[] };
      asked.push(`${options.message} ${options.detail ?? ''}`);
      const response = options.buttons.indexOf(wanted);
      if (response === -1) throw new Error(`no button ${wanted} among ${options.buttons.join(', ')}`);
      return Promise.resolve({ response, checkboxChecked: false });
    };
  });
}

export async function askedDialogs(app: ElectronApplication): Promise<readonly string[]> {
  return inMain(app, () => (globalThis as unknown as { asked?: string[] }).asked ?? []);
}
