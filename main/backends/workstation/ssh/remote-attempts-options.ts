/** What attempts on another machine need of their machine. */
import type { GpuView } from '../../../../core/contract/gpus.js';
import type { AttemptObservation } from '../../backend.js';
import type { LinkLog } from '../process/launcher-link.js';
import type { FarPlace } from './far-start.js';
import type { FarText } from './far-words.js';

export interface RemoteAttemptsOptions {
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly gpus: () => readonly GpuView[];
  /** As they are themselves, whoever claims them. */
  readonly cards: () => readonly GpuView[];
  readonly lookAtCards: () => Promise<void>;
  readonly gpuIdleAfterMs?: number | undefined;
  /** How far the machine's clock is ahead. */
  readonly clockSkewMs: () => number;
  readonly onObservations: (batch: readonly AttemptObservation[]) => void;
  readonly onGrew: (uid: string, outSize: number, errSize: number) => void;
  /** What the controller does not want there any more is gone: new attempts may start. */
  readonly onSettled: () => void;
}

export interface FarHandEnd {
  readonly place: FarPlace;
  send(...texts: readonly FarText[]): void;
}
