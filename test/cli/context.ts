/** What a command is given, with a fake host and a kept output. */
import type { Globals } from '../../main/cli/arguments.js';
import type { Context } from '../../main/cli/context.js';
import { HostLink } from '../../main/cli/host-link.js';
import type { InterruptSignal } from '../../main/cli/interrupts.js';
import type { Connection } from '../../main/cli/connection.js';
import type { Terminal } from '../../main/cli/terminal.js';
import type { Home } from '../../main/home.js';
import { keptOutput, type KeptOutput } from './output.js';

export interface TestContext extends KeptOutput {
  readonly context: Context;
  readonly notes: string[];
  interrupt(signal: InterruptSignal): void;
}

export function testContext(
  home: Home,
  more: {
    readonly json?: boolean;
    readonly cluster?: string;
    readonly argv?: readonly string[];
    readonly terminal?: Terminal;
    readonly lines?: readonly string[];
    readonly start?: () => Promise<Connection>;
    readonly leavesWithinMs?: number;
    readonly outBreaksAfter?: number;
    /** Standard output is one. */
    readonly isTerminal?: boolean;
  } = {},
): TestContext {
  const kept = keptOutput({
    json: more.json ?? false,
    outBreaksAfter: more.outBreaksAfter,
    isTerminal: more.isTerminal ?? false,
  });
  const notes: string[] = [];
  const globals: Globals = {
    home: home.root,
    cluster: more.cluster,
    json: more.json ?? false,
    verbose: false,
    traceback: false,
  };
  const listeners = new Set<(signal: InterruptSignal) => void>();
  const link = new HostLink({
    home,
    program: { executable: process.execPath, script: '/nonexistent' },
    environment: {},
    cluster: more.cluster,
    leavesWithinMs: more.leavesWithinMs,
    note: (sentence) => notes.push(sentence),
    start: more.start ?? (() => Promise.reject(new Error('nothing is to be started here'))),
  });
  return {
    ...kept,
    notes,
    interrupt: (signal) => listeners.forEach((listener) => listener(signal)),
    context: {
      globals,
      output: kept.output,
      link,
      home,
      interrupts: {
        listen: (handler) => {
          listeners.add(handler);
          return () => listeners.delete(handler);
        },
      },
      argv: more.argv ?? ['job', 'run', 'tool'],
      folder: '/srv',
      environment: {},
      nowMs: () => 1_700_000_100_000,
      terminal: more.terminal ?? null,
      readLines: () => Promise.resolve(more.lines ?? []),
    },
  };
}
