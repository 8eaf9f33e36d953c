/** What runs in the desktop's worker thread: the controller, away from the thread that draws and answers the tray. */
import type { MessagePort } from 'node:worker_threads';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { WorkerInput } from './controller-thread.js';
import type { WorkerMessage } from './host-link.js';
import { LogFrameText, type LogFrame } from '../logs/log-answer.js';
import { startHost, type Host } from './host.js';
import { fillPool } from './random-hex.js';
import type { Session } from './session.js';

/** The first page has long been answered by then, and what has run until then is worth keeping. */
const keepCodeAfterMs = 10_000;
/** So much later comes what the first page does not need and the first job does. */
const fillPoolAfterMs = 2000;

export interface WorkerCode {
  runController(input: WorkerInput, port: MessagePort, keepCode: () => void): Promise<void>;
}

export const runController: WorkerCode['runController'] = async (input, port, keepCode) => {
  const post = (message: WorkerMessage) => port.postMessage(message);
  /** Moved, not copied: the main thread makes no text of it. */
  const postText = (client: number, frame: LogFrame) => {
    const text = new LogFrameText(frame).rest();
    const message: WorkerMessage = { kind: 'frame', client, frame: text };
    port.postMessage(message, [text.buffer]);
  };
  const sessions = new Map<number, Session>();

  function accept(host: Host, message: WorkerMessage): void {
    switch (message.kind) {
      case 'open':
        sessions.set(
          message.client,
          host.openSession({
            send: (frame) => {
              if (frame.kind === 'log') postText(message.client, frame);
              else post({ kind: 'frame', client: message.client, frame });
            },
            close: () => {
              sessions.get(message.client)?.close();
              sessions.delete(message.client);
              post({ kind: 'close', client: message.client });
            },
          }),
        );
        return;
      case 'frame':
        sessions.get(message.client)?.receive(message.frame);
        return;
      case 'close':
        sessions.get(message.client)?.close();
        sessions.delete(message.client);
        return;
      case 'shutdown':
        void host.stop(message.reason);
        return;
      default:
        return;
    }
  }

  try {
    const host = await startHost({ ...input, hostKind: 'desktop' });
    port.on('message', (message: WorkerMessage) => accept(host, message));
    post({ kind: 'ready' });
    const keeping = setTimeout(keepCode, keepCodeAfterMs);
    const filling = setTimeout(fillPool, fillPoolAfterMs);
    const reason = await host.stopped;
    clearTimeout(keeping);
    clearTimeout(filling);
    keepCode();
    post({ kind: 'stopped', reason });
    port.close();
  } catch (error) {
    post({
      kind: 'failed',
      refusal:
        error instanceof RefusalError
          ? error.refusal
          : refusal(
              'INTERNAL',
              `The controller could not start: ${error instanceof Error ? error.message : String(error)}`,
            ),
    });
    port.close();
  }
};
