/** The bridge as the page sees it: one frozen object of contract methods, and no way to Electron behind it. */
import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type {
  AppInfo,
  ClosingAnswer,
  DesktopBridge,
  DesktopCommand,
  DesktopSettings,
} from '../../core/contract/desktop-bridge.js';
import { channels, portEnd, type Answer } from '../ipc/channels.js';

/** Commands kept while nobody listens yet; a page that never listens must not gather them for ever. */
const mostKeptCommands = 20;
/**
 * A page listens in several places, and they come up one after another: what was kept goes to each that comes within this time
 * of the first.
 */
const comingUpMs = 3000;

/** Frames with bytes of a log come as the bytes of their text, which nobody made before. */
const decoder = new TextDecoder();

const listeners = new Set<(command: DesktopCommand) => void>();
let kept: DesktopCommand[] = [];
let comingUp: ReturnType<typeof setTimeout> | null = null;

ipcRenderer.on(channels.command, (_event, command: DesktopCommand) => {
  if (listeners.size === 0 || comingUp !== null) kept = [...kept, command].slice(-mostKeptCommands);
  for (const listener of listeners) listener(command);
});

function listen(listener: (command: DesktopCommand) => void): void {
  listeners.add(listener);
  if (comingUp === null && listeners.size === 1) {
    comingUp = setTimeout(() => {
      kept = [];
      comingUp = null;
    }, comingUpMs);
    ipcRenderer.send(channels.listening);
  }
  for (const command of kept) listener(command);
}

/** Main is the boundary parser of requests; of its answers we are sure. */
async function ask<T>(channel: string, ...parameters: readonly unknown[]): Promise<T> {
  const answer = (await ipcRenderer.invoke(channel, ...parameters)) as Answer;
  if (!answer.ok) throw new Error(answer.message);
  return answer.value as T;
}

const bridge: DesktopBridge = {
  connect(onFrame, onClosed) {
    const { port1, port2 } = new MessageChannel();
    let open = true;
    const end = () => {
      if (!open) return;
      open = false;
      port1.close();
      onClosed();
    };
    port1.addEventListener('message', (event: MessageEvent<string | Uint8Array>) => {
      if (!open) return;
      if (event.data === portEnd) end();
      else onFrame(typeof event.data === 'string' ? event.data : decoder.decode(event.data));
    });
    port1.addEventListener('close', end);
    port1.start();
    ipcRenderer.postMessage(channels.connect, null, [port2]);
    return {
      send(frame) {
        if (open) port1.postMessage(frame);
      },
      close() {
        open = false;
        port1.close();
      },
    };
  },
  pickFolder: (current) => ask<string | null>(channels.pickFolder, current ?? null),
  saveText: (suggestedName, attemptUid, stream) =>
    ask<{ path: string } | null>(channels.saveText, suggestedName, attemptUid, stream),
  readDroppedPath(file) {
    if (!(file instanceof File)) return null;
    const path = webUtils.getPathForFile(file);
    return path === '' ? null : path;
  },
  info: () => ask<AppInfo>(channels.info),
  onCommand(listener) {
    listen(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  answerClosing: (answer: ClosingAnswer) => ask<undefined>(channels.answerClosing, answer),
  getSettings: () => ask<DesktopSettings>(channels.getSettings),
  setSettings: (change) => ask<DesktopSettings>(channels.setSettings, change),
};

// Frozen on the page's side by contextBridge itself.
contextBridge.exposeInMainWorld('irisDesktop', bridge);
