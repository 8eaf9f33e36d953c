/**
 * The window's connections to the controller: a message port each, frames passed on unread, to the page as JSON. A port is taken only from a page that
 * passed the sender check and dies with the page: on navigation, on reload, when the renderer is gone.
 */
import { ipcMain, type IpcMainEvent, type MessagePortMain, type WebContents } from 'electron';
import type { ClientFrame } from '../../core/contract/protocol.js';
import type { LinkFrame } from '../server/frame-text.js';
import { channels, portEnd } from './channels.js';
import { senderFault, type SenderRule } from './sender.js';

export interface FrameClient {
  send(frame: ClientFrame): void;
  close(): void;
}

export interface FramePortsOptions {
  readonly rule: SenderRule;
  readonly openClient: (receive: (frame: LinkFrame) => void, closed: () => void) => FrameClient;
  readonly log: (line: string) => void;
}

/** A page needs one connection; more than a few open ones are a fault in it. */
const mostPortsPerWindow = 8;

export interface FramePorts {
  /** Closes what a page holds when it is left; call once for each window. */
  watch(contents: WebContents): void;
  close(): void;
}

export function serveFramePorts(options: FramePortsOptions): FramePorts {
  const open = new Map<WebContents, Set<() => void>>();

  function onConnect(event: IpcMainEvent): void {
    const [port, ...surplus] = event.ports;
    for (const other of surplus) other.close();
    if (port === undefined) return;
    const fault = senderFault(event, options.rule);
    const ports = open.get(event.sender) ?? new Set<() => void>();
    if (fault !== null || ports.size >= mostPortsPerWindow) {
      options.log(`Refused a connection from ${fault ?? `a window with ${ports.size} open ones`}.`);
      end(port);
      return;
    }
    open.set(event.sender, ports);
    const close = join(port, () => ports.delete(close));
    ports.add(close);
  }

  /** Couples a port and a client; the returned function uncouples them. */
  function join(port: MessagePortMain, gone: () => void): () => void {
    let over = false;
    const finish = (tellClient: boolean) => {
      if (over) return;
      over = true;
      gone();
      if (tellClient) client.close();
      end(port);
    };
    const client = options.openClient(
      (frame) => {
        if (!over) port.postMessage(frame instanceof Uint8Array ? frame : JSON.stringify(frame));
      },
      () => finish(false),
    );
    port.on('message', (message) => {
      try {
        // Checked by the host, which parses every frame it is given.
        client.send(message.data as ClientFrame);
      } catch (error) {
        options.log(`A frame of the window cannot be passed on: ${String(error)}`);
        finish(true);
      }
    });
    port.on('close', () => finish(true));
    port.start();
    return () => finish(true);
  }

  function closeAll(contents: WebContents): void {
    for (const close of [...(open.get(contents) ?? [])]) close();
    open.delete(contents);
  }

  ipcMain.on(channels.connect, onConnect);
  return {
    watch(contents) {
      contents.on('did-start-navigation', (details) => {
        if (details.isMainFrame && !details.isSameDocument) closeAll(contents);
      });
      contents.on('render-process-gone', () => closeAll(contents));
      contents.once('destroyed', () => closeAll(contents));
    },
    close() {
      ipcMain.off(channels.connect, onConnect);
      for (const contents of [...open.keys()]) closeAll(contents);
    },
  };
}

function end(port: MessagePortMain): void {
  port.postMessage(portEnd);
  port.close();
}
