/** What the main thread knows of the cluster, kept up to date: for the tray, and for the words said on quitting. */
import type { Refusal } from '../../core/contract/errors.js';
import type { Counts } from '../../core/contract/views.js';
import type { ShellClient } from './shell-client.js';
import { mostTrayJobs, type TrayJob } from './tray-model.js';

export interface ClusterState {
  /** Null: connected. */
  readonly problem: Refusal | null;
  /** True once there was a connection. */
  readonly seen: boolean;
  /** The last counts known; null before the first connection. */
  readonly counts: Counts | null;
  readonly runningJobs: readonly TrayJob[];
}

export interface ClusterWatch {
  /** The counts as of now. What was told last where the controller does not answer soon; null where nothing was ever told. */
  countsNow(): Promise<Counts | null>;
  close(): void;
}

/** A person has closed the window and waits. */
const answerWithinMs = 2000;

/** The list of running jobs is asked for at most this often. */
const listGapMs = 1000;

export function startClusterWatch(
  client: Pick<ShellClient, 'call' | 'subscribe' | 'onState'>,
  changed: (state: ClusterState) => void,
  setTimer: (run: () => void, ms: number) => () => void,
): ClusterWatch {
  let state: ClusterState = { problem: null, seen: false, counts: null, runningJobs: [] };
  let cancelTimer: (() => void) | null = null;
  let closed = false;

  function update(part: Partial<ClusterState>): void {
    if (closed) return;
    state = { ...state, ...part };
    changed(state);
  }

  async function listRunning(): Promise<void> {
    try {
      const { rows } = await client.call('job.list', {
        filter: { states: ['RUNNING'], rootsOnly: true },
        sort: { key: 'submitted', descending: true },
        offset: 0,
        limit: mostTrayJobs,
      });
      update({ runningJobs: rows.map(({ id, name }) => ({ id, name })) });
    } catch {
      return; // the connection ended: the next one begins with a snapshot, which asks again
    }
  }

  function listSoon(): void {
    cancelTimer ??= setTimer(() => {
      cancelTimer = null;
      void listRunning();
    }, listGapMs);
  }

  const stops = [
    client.onState((problem) => update({ problem, seen: state.seen || problem === null })),
    client.subscribe(
      'jobs',
      { countsOnly: true },
      (value) => {
        update({ counts: value.counts });
        void listRunning();
      },
      (value) => {
        update({ counts: value.counts });
        listSoon();
      },
    ),
  ];

  return {
    countsNow: () =>
      new Promise((resolve) => {
        const cancel = setTimer(() => resolve(state.counts), answerWithinMs);
        const settle = (counts: Counts | null) => {
          cancel();
          resolve(counts);
        };
        // Deltas are gathered for a moment, so a job just submitted may be in this answer alone.
        client.call('status', {}).then(
          ({ counts }) => settle(counts),
          () => settle(state.counts),
        );
      }),
    close() {
      closed = true;
      cancelTimer?.();
      for (const stop of stops) stop();
    },
  };
}
