/** The page's word that it listens for commands, taken only from a right sender. */
import { ipcMain, type IpcMainEvent } from 'electron';
import { channels } from './channels.js';
import { senderFault, type SenderRule } from './sender.js';

/** Returns the function that ends it. */
export function onPageListening(
  rule: SenderRule,
  log: (line: string) => void,
  listens: () => void,
): () => void {
  const handler = (event: IpcMainEvent) => {
    const fault = senderFault(event, rule);
    if (fault === null) listens();
    else log(`Refused ${channels.listening} from ${fault}.`);
  };
  ipcMain.on(channels.listening, handler);
  return () => ipcMain.off(channels.listening, handler);
}
