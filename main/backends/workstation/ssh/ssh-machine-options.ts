/** What a machine reached by SSH is made of, and what can be asked of it. */
import type { Duplex } from 'node:stream';
import type { Backend } from '../../backend.js';
import type { LinkLog } from '../process/launcher-link.js';
import type { AskDesk } from './ask-desk.js';
import type { ContactLimits } from './contact-state.js';
import type { SshClient } from './ssh-command.js';
import type { SshFailure } from './ssh-failure.js';

export interface SshMachineOptions {
  /** The worker's id. */
  readonly name: string;
  /** `ssh://[user@]host[:port]` or an alias; throws when it is neither. */
  readonly address: string;
  /** The machine's own id where it is known; else whoever answers first is remembered. */
  readonly identity?: string | null | undefined;
  /** Shared by all machines of a controller. */
  readonly home: string;
  /** Where the controllers of all logins there tell each other what they hold; `none`: nowhere. As that login has it unless told. */
  readonly claimsFolder?: string | undefined;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Whether the controller keeps an attempt; absent: none that is old. */
  readonly isKnown?: ((uid: string) => Promise<boolean>) | undefined;
  readonly client?: SshClient | undefined;
  /** Where what the client asks is answered; absent: nowhere. */
  readonly desk?: AskDesk | undefined;
  readonly limits?: Partial<ContactLimits> | undefined;
  readonly connectTimeoutMs?: number | undefined;
  readonly pingEveryMs?: number | undefined;
  readonly silentAfterMs?: number | undefined;
  /** Of the samples of its cards. */
  readonly gpuLoopMs?: number | undefined;
  /** A held card that is hardly used for so long is told of. */
  readonly gpuIdleAfterMs?: number | undefined;
}

export interface SshMachine extends Backend {
  /** Tries to connect at once, and asks what has to be asked for that. Null: it is connected; or why it is not. */
  retry(): Promise<SshFailure | null>;
  /** Somebody listens to questions: one that waits for an answer is tried at once. */
  listenedTo(): void;
  /** A stream to the Docker Engine there over the same connection; throws when there is none. `listening`: it is always read there. */
  connect(listening: boolean): Duplex;
  forget(): void;
}
