/** What every command is given. */
import type { Home } from '../home.js';
import type { Globals } from './arguments.js';
import type { HostLink } from './host-link.js';
import type { Interrupts } from './interrupts.js';
import type { Output } from './output.js';
import type { Terminal } from './terminal.js';

export interface Context {
  readonly globals: Globals;
  readonly output: Output;
  readonly link: HostLink;
  readonly home: Home;
  readonly interrupts: Interrupts;
  /** The words irisctl was called with. */
  readonly argv: readonly string[];
  /** The caller's folder, real and absolute. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly nowMs: () => number;
  /** Null: nobody is there to be asked. */
  readonly terminal: Terminal | null;
  /** Reads standard input to its end, as lines without blanks around them. */
  readonly readLines: () => Promise<readonly string[]>;
}
