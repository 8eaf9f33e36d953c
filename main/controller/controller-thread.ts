/**
 * The desktop's thread for the controller. It can be made before anything is known but the folder: it reads the controller's code, touches
 * nothing, and waits for the word to start. So the desktop's entry makes it in its first lines, while there is a processor to spare.
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Home } from '../home.js';

export interface WorkerInput {
  readonly home: Home;
  readonly appVersion: string;
  readonly runtime: string;
}

export function makeControllerThread(workerModule: URL, input: WorkerInput): Worker {
  return new Worker(workerModule, { workerData: input, name: 'controller' });
}

/** False where no host can be there to attach to. A named pipe is no file that could be looked for. */
export function mayListen(socketPath: string): boolean {
  return process.platform === 'win32' || existsSync(socketPath);
}
