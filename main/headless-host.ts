/** The headless host: the same controller in plain Node, or in Electron run as Node. */
import { RefusalError, refusal, type Refusal } from '../core/contract/errors.js';
import { startHost } from './controller/host.js';
import { resolveHome } from './home.js';
import { appVersion, runtimeName } from './version.js';

export interface HeadlessOptions {
  /** As given by `--home`. */
  readonly home?: string | undefined;
  /** One line when the host answers. */
  readonly ready?: (socket: string) => void;
  /** Why it cannot start. */
  readonly failed?: (reason: Refusal) => void;
}

/** Runs until asked to stop (the `shutdown` method, SIGTERM or SIGINT). Resolves with the exit code: 0, or 125 when it could not start. */
export async function runHeadless(options: HeadlessOptions): Promise<number> {
  const home = resolveHome({ flag: options.home });
  try {
    const host = await startHost({ home, hostKind: 'headless', appVersion, runtime: runtimeName() });
    const stop = (signal: string) => void host.stop(`${signal} received`);
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    // The terminal it was started from may close; it goes on.
    process.on('SIGHUP', () => undefined);
    options.ready?.(home.socket);
    await host.stopped;
    return 0;
  } catch (error) {
    options.failed?.(
      error instanceof RefusalError
        ? error.refusal
        : refusal('INTERNAL', error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    return 125;
  }
}
