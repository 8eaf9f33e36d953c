/** The desktop's worker thread: the controller, away from the thread that draws and answers the tray. */
import { parentPort, workerData } from 'node:worker_threads';
import { RefusalError, refusal } from '../core/contract/errors.js';
import type { WorkerInput, WorkerMessage } from './controller/host-link.js';
import { startHost, type Host } from './controller/host.js';
import type { Session } from './controller/session.js';
import { compileForBursts } from './engine.js';

const port = parentPort;
if (port === null) throw new Error('controller-worker runs only as a worker thread');
compileForBursts();
// The structured clone of what host-link.ts put in.
const input = workerData as WorkerInput;
const post = (message: WorkerMessage) => port.postMessage(message);
const sessions = new Map<number, Session>();

function accept(host: Host, message: WorkerMessage): void {
  switch (message.kind) {
    case 'open':
      sessions.set(
        message.client,
        host.openSession({
          send: (frame) => post({ kind: 'frame', client: message.client, frame }),
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
  const reason = await host.stopped;
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
