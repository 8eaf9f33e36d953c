/** The desktop's worker thread: finds the controller's code and its compiled form, and runs it. */
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { runCached } from './cached-code.js';
import type { WorkerInput } from './controller/controller-thread.js';
import type { WorkerCode } from './controller/worker-code.js';

const port = parentPort;
if (port === null) throw new Error('controller-worker runs only as a worker thread');
// The structured clone of what controller-thread.ts put in.
const input = workerData as WorkerInput;
const code = runCached(
  path.join(import.meta.dirname, 'controller.cjs'),
  path.join(input.home.folder, 'code', 'controller.bin'),
);
// The first message is the word to start.
port.once('message', () => {
  // Built from worker-code.ts.
  void (code.exported as WorkerCode).runController(input, port, () => code.keep());
});
