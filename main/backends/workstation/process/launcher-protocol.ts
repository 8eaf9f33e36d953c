/** What a backend and its launcher say to each other. Both are of one build; the lists only batch. */
import type { Cause } from '../../../../core/contract/views.js';
import type { GroupLimits, GroupRoots } from './control-groups.js';
import type { StagedFile } from './staging.js';

export interface StartItem {
  readonly uid: string;
  readonly command: readonly string[];
  readonly folder: string;
  /** On top of the login environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly files: readonly StagedFile[];
  readonly timeLimitMs: number | null;
  readonly stopSignal: string;
  readonly graceMs: number;
  readonly limits: GroupLimits | null;
}

/** First message; nothing is started before it. */
export interface LauncherSetup {
  readonly kind: 'setup';
  readonly attemptsFolder: string;
  readonly supervisor: string;
  readonly shell: string;
  /** Null: supervisors find out themselves, and note when they started. */
  readonly bootId: string | null;
  readonly loginEnvironment: Readonly<Record<string, string>>;
  readonly umask: number;
  readonly groups: GroupRoots;
}

export type ToLauncher = LauncherSetup | { readonly kind: 'start'; readonly items: readonly StartItem[] };

export type LauncherEvent =
  /** Its supervisor lives. */
  | { readonly kind: 'started'; readonly uid: string; readonly pid: number; readonly atMs: number }
  /** Nothing was started. `fault`: by the job's own fault, for good; else this machine could not. */
  | {
      readonly kind: 'refused';
      readonly uid: string;
      readonly cause: Cause;
      readonly exitCode: number | null;
      readonly fault: boolean;
    }
  /** Its folder is claimed already: look there. */
  | { readonly kind: 'claimed'; readonly uid: string }
  /** The supervisor we started ended. */
  | {
      readonly kind: 'ended';
      readonly uid: string;
      readonly pid: number;
      readonly atMs: number;
      /** By the monotonic clock. */
      readonly durationMs: number;
      readonly code: number | null;
      readonly signal: string | null;
      /** Text of the claim file; empty when there is none. */
      readonly claim: string;
      /** Something of it may still live. */
      readonly leftovers: boolean;
    };

export type FromLauncher =
  | { readonly kind: 'ready'; readonly pid: number }
  | { readonly kind: 'events'; readonly events: readonly LauncherEvent[] };
