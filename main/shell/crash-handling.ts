/** A bug in the main process: written down with version and ids, then the app starts anew from what is stored; twice in a row it says so instead. */
import type { App } from 'electron';
import { describe } from './lifecycle.js';

export const restartedFlag = '--restarted-after-fault';

export interface CrashOptions {
  readonly app: App;
  readonly appVersion: string;
  readonly runtime: string;
  readonly restartedAlready: boolean;
  readonly log: (level: 'error', line: string) => void;
  /** Stops what can be stopped, then ends the process with this code. */
  readonly leave: (exitCode: number) => void;
  readonly tell: (title: string, text: string) => void;
}

export function handleFaults(options: CrashOptions): void {
  let handling = false;
  const record = (what: string, error: unknown) => {
    options.log(
      'error',
      `${what} (Iris Desktop ${options.appVersion}, ${options.runtime}, pid ${process.pid}): ${describe(error)}`,
    );
  };
  process.on('uncaughtException', (error) => {
    record('A fault in the main process', error);
    if (handling) return;
    handling = true;
    if (options.restartedAlready) {
      options.tell(
        'Iris Desktop cannot go on',
        'It met the same kind of fault again right after starting anew. Your jobs keep running. The reason is in desktop.log in the data folder.',
      );
    } else {
      options.app.relaunch({ args: [...process.argv.slice(1), restartedFlag] });
    }
    options.leave(70);
  });
  // A promise nobody waited for: nothing hangs on it, so the app goes on.
  process.on('unhandledRejection', (error) => record('An unhandled rejection', error));
  options.app.on('child-process-gone', (_event, details) => {
    if (details.reason !== 'clean-exit') {
      record(
        'A helper process ended',
        `${details.type} ${details.name ?? ''}: ${details.reason}, exit code ${details.exitCode}`,
      );
    }
  });
}
