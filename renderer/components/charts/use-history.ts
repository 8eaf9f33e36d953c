/**
 * Load of a machine over time. No topic tells of it, so while it is looked at the new part alone is asked for: every 2 s for what is
 * kept that finely, every minute otherwise. Nothing is asked while the window is hidden or the graph is paused.
 */
import { useEffect, useState } from 'react';
import type { Refusal } from '../../../core/contract/errors.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { appendHistory, historyUntil, noHistory, type HistoryData } from './history-data.js';

export interface HistorySpan {
  /** Of the last so many milliseconds; null: all. */
  readonly lastMs: number | null;
  /** Nothing before. */
  readonly fromMs: number;
  /** Over by then: asked for once. Null: goes on. */
  readonly toMs: number | null;
}

export const lastMs = (ms: number): HistorySpan => ({ lastMs: ms, fromMs: 0, toMs: null });

export type HistoryState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'live'; readonly data: HistoryData; readonly fromMs: number; readonly toMs: number };

const fineAskMs = 2000;
const coarseAskMs = 60_000;
const fineRangeMs = 3_600_000;

export function useHistory(machineId: string, span: HistorySpan, paused: boolean): HistoryState {
  const host = useHost();
  const [state, setState] = useState<HistoryState>({ kind: 'loading' });
  const { lastMs: range, fromMs: start, toMs } = span;

  useEffect(() => {
    let data = noHistory;
    let timer: ReturnType<typeof setTimeout> | null = null;
    let asking = false;
    let ended = false;
    /** What is over is asked for until it was read once. */
    let read = false;
    const from = (now: number) => (range === null ? start : Math.max(start, now - range));
    const begunMs = Date.now();
    const everyMs = begunMs - from(begunMs) <= fineRangeMs ? fineAskMs : coarseAskMs;

    const ask = () => {
      timer = null;
      if (ended || asking || document.visibilityState === 'hidden') return;
      asking = true;
      const now = Date.now();
      const sinceMs = Math.max(Math.floor(from(now)), (data.timesMs.at(-1) ?? -1) + 1);
      host
        .call('machine.history', { machineId, sinceMs })
        .then(
          (answer) => {
            if (ended) return;
            read = true;
            data = appendHistory(data, answer, from(now));
            const shown = toMs === null ? data : historyUntil(data, toMs);
            setState({ kind: 'live', data: shown, fromMs: from(now), toMs: toMs ?? now });
          },
          (error: unknown) => {
            if (ended) return;
            // What was read before stays; it is asked for again.
            setState((before) =>
              before.kind === 'live' ? before : { kind: 'failed', refusal: asRefusal(error) },
            );
          },
        )
        .finally(() => {
          asking = false;
          if (!ended && (toMs === null || !read)) timer ??= setTimeout(ask, everyMs);
        });
    };
    const onVisible = () => {
      if (document.visibilityState === 'visible' && timer === null) ask();
    };
    if (!paused) {
      ask();
      document.addEventListener('visibilitychange', onVisible);
    }
    return () => {
      ended = true;
      if (timer !== null) clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [host, machineId, range, start, toMs, paused]);

  return state;
}
