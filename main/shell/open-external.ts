/** Links to the outside go to the browser: https only, parsed, and only after the user has seen the host. */
import { dialog, shell, type BrowserWindow } from 'electron';

/** Null when it is nothing a browser should be given. */
export function externalUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : null;
  } catch {
    return null;
  }
}

export async function openExternal(
  text: string,
  window: BrowserWindow | null,
  log: (line: string) => void,
): Promise<void> {
  const url = externalUrl(text);
  if (url === null) {
    log(`Not opened in the browser: ${text}`);
    return;
  }
  const question = {
    type: 'question' as const,
    message: `Open ${url.host} in the browser?`,
    detail: url.href,
    buttons: ['Open', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
  };
  const { response } = await (window === null
    ? dialog.showMessageBox(question)
    : dialog.showMessageBox(window, question));
  if (response === 0) await shell.openExternal(url.href);
}
