/** Signals that ask us to leave. Without a listener of a command's own, the first one ends irisctl at once. */
import { exitCodes } from './exit-codes.js';

export type InterruptSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const codes: Readonly<Record<InterruptSignal, number>> = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hangup,
};

export function interruptExitCode(signal: InterruptSignal): number {
  return codes[signal];
}

export interface Interrupts {
  /** Hands signals to `handler` until the returned function is called. */
  listen(handler: (signal: InterruptSignal) => void): () => void;
}

export function createInterrupts(source: NodeJS.Process): Interrupts {
  return {
    listen(handler) {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      const listeners = signals.map((signal) => ({ signal, listener: () => handler(signal) }));
      for (const { signal, listener } of listeners) source.on(signal, listener);
      return () => {
        for (const { signal, listener } of listeners) source.off(signal, listener);
      };
    },
  };
}
