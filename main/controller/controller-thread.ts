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

export interface ControllerThread {
  readonly worker: Worker;
  /** Why it has ended before anybody listened to it; null while it lives. */
  readonly failure: () => Error | null;
}

export function makeControllerThread(workerModule: URL, input: WorkerInput): ControllerThread {
  const worker = new Worker(workerModule, { workerData: input, name: 'controller' });
  let failure: Error | null = null;
  // A failure nobody listens to would be the whole desktop's, and be told to nobody who waits for the thread.
  worker.on('error', (error) => (failure ??= error));
  worker.on('exit', (code) => (failure ??= new Error(`it ended with code ${code}`)));
  return { worker, failure: () => failure };
}

/** False where no host can be there to attach to. A named pipe is no file that could be looked for. */
export function mayListen(socketPath: string): boolean {
  return process.platform === 'win32' || existsSync(socketPath);
}
