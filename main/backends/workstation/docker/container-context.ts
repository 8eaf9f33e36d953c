/** What the attempts of one Docker runtime share. */
import type { Cause } from '../../../../core/contract/views.js';
import type { LogHeard, StopNotice } from '../../backend.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import type { LinkLog } from '../process/launcher-link.js';
import type { Reporter } from '../process/reporter.js';
import type { ContainerHub } from './container-hub.js';
import type { ContainerUser } from './container-plan.js';
import type { ContainerUsage } from './container-usage.js';
import type { Engine } from './engine.js';
import type { Images } from './images.js';
import type { SharedCaches } from './shared-caches.js';
import type { HostFiles } from './local-files.js';
import type { StartSlots } from './start-slots.js';

export interface ContainerContext {
  readonly engine: Engine;
  readonly hub: ContainerHub;
  readonly slots: StartSlots;
  readonly images: Images;
  readonly caches: Pick<SharedCaches, 'whenStill'>;
  readonly files: HostFiles;
  readonly reporter: Reporter;
  readonly log: LinkLog;
  /** Value of the label that says whose containers they are. */
  readonly owner: string;
  /** This program's own data, and folders of its sockets that lie elsewhere. */
  readonly ownFolders: () => readonly string[];
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** How far the Engine's clock is ahead. */
  readonly clockSkewMs: () => number;
  /** Whom commands run as, so that files in mounted folders stay theirs. */
  readonly user: () => ContainerUser | null;
  /** The Engine has an init program, as far as is known. */
  readonly init: () => boolean;
  readonly withoutInit: () => void;
  readonly onRunning: (entry: AttemptEntry) => void;
  readonly onNotice: (entry: AttemptEntry, notice: StopNotice) => void | Promise<void>;
  readonly onConclude: (entry: AttemptEntry) => void;
  /** What its log does not have yet; null: nothing more. */
  readonly onHeard: (uid: string, heard: LogHeard | null) => void;
  /** What still uses the devices of one that has ended. */
  readonly devicesLeft: (entry: AttemptEntry) => Promise<Cause | null>;
  /** Why a device of it cannot be trusted; null: none is in trouble. */
  readonly deviceFault: (entry: AttemptEntry) => string | null;
  /** Between the questions to a registry that does not answer. */
  readonly pullPausesMs: readonly number[];
  readonly usage: ContainerUsage;
  /** By id, at once. */
  readonly remove: (id: string) => Promise<void>;
  /** By name, when it is ours; tried until the Engine has done it. */
  readonly removeOwn: (name: string, id?: string | null) => Promise<void>;
}
