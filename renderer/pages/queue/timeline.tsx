/** What runs where over time: zoomed and moved by keys, buttons and wheel; the same as a table for who cannot see a drawing. */
import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { useRef, useState } from 'react';
import type { QueueView } from '../../../core/contract/queue.js';
import { jobRoute, navigate } from '../../app/router.js';
import { ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { queue as words } from '../../strings/queue.js';
import { LaneCanvas } from './lane-canvas.js';
import { LaneTable } from './lane-table.js';
import { maxSpanMs, minSpanMs, moved, rangeOf, startWindow, zoomed, type TimeWindow } from './time-scale.js';
import styles from './timeline.module.css';
import { historyLimit, useLanes } from './use-lanes.js';
import { useNow } from './use-now.js';

const panShare = 0.25;
/** Steps of the present that would not move anything by a pixel are not drawn. */
const pixels = 1500;

export function Timeline({ view }: { readonly view: QueueView }) {
  const [window, setWindow] = useState<TimeWindow>(startWindow);
  const [mode, setMode] = useState<'lanes' | 'table'>('lanes');
  const section = useRef<HTMLElement>(null);
  const nowMs = useNow(Math.max(1000, Math.floor(window.spanMs / pixels)));
  const range = rangeOf(window, nowMs);
  const { lanes, loading, cut, failed } = useLanes(view, range, nowMs);

  const zoom = (factor: number, share?: number) => {
    setWindow((before) => zoomed(before, factor, nowMs, share));
  };
  const pan = (share: number) => {
    setWindow((before) => moved(before, share, nowMs));
  };
  const toNow = () => {
    setWindow((before) => ({ ...before, startMs: null }));
  };
  // The keys of the list above stay its own.
  const within = (run: () => void) => () => {
    if (section.current?.contains(document.activeElement) !== true) return false;
    run();
    return true;
  };
  useShortcuts(words.keysTimeline, [
    { keys: ['+', '='], label: words.keyZoom, shown: ['+', '-'], run: () => zoom(0.5) },
    { keys: '-', run: () => zoom(2) },
    {
      keys: 'shift+ArrowLeft',
      label: words.keyPan,
      shown: ['shift+ArrowLeft', 'shift+ArrowRight'],
      run: within(() => pan(-panShare)),
    },
    { keys: 'shift+ArrowRight', run: within(() => pan(panShare)) },
    { keys: '0', label: words.keyNow, run: toNow },
  ]);

  return (
    <section className={styles['section']} aria-label={words.lanes} ref={section}>
      <div className={styles['head']}>
        <h2 title={words.lanesHint}>{words.lanes}</h2>
        <span className={styles['space']} />
        <ActionIcon aria-label={words.earlier} title={words.earlier} onClick={() => pan(-panShare)}>
          <Icon name="chevron-left" size={14} />
        </ActionIcon>
        <Button variant="default" size="compact-xs" disabled={window.startMs === null} onClick={toNow}>
          {words.toNow}
        </Button>
        <ActionIcon aria-label={words.later} title={words.later} onClick={() => pan(panShare)}>
          <Icon name="chevron-right" size={14} />
        </ActionIcon>
        <span className={styles['gap']} />
        <ActionIcon
          aria-label={words.zoomOut}
          title={words.zoomOut}
          disabled={window.spanMs >= maxSpanMs}
          onClick={() => zoom(2)}
        >
          <Icon name="minus" size={14} />
        </ActionIcon>
        <span className={styles['span']} title={words.spanHint}>
          {words.span(Math.round(window.spanMs / 60_000) * 60_000)}
        </span>
        <ActionIcon
          aria-label={words.zoomIn}
          title={words.zoomIn}
          disabled={window.spanMs <= minSpanMs}
          onClick={() => zoom(0.5)}
        >
          <Icon name="plus" size={14} />
        </ActionIcon>
        <span className={styles['gap']} />
        <SegmentedControl
          aria-label={words.views}
          value={mode}
          data={[
            { value: 'lanes', label: words.viewLanes },
            { value: 'table', label: words.viewTable },
          ]}
          onChange={(value) => {
            setMode(value === 'table' ? 'table' : 'lanes');
          }}
        />
      </div>
      {failed === null ? null : (
        <ErrorState inline what={words.historyWhat} refusal={failed.refusal} onRetry={failed.retry} />
      )}
      {cut ? <p className={`${styles['note'] ?? ''} iris-muted`}>{words.historyCut(historyLimit)}</p> : null}
      {loading ? (
        <div className={styles['loading']}>
          <LoadingNote />
          <Skeleton width="70%" />
          <Skeleton width="45%" />
        </div>
      ) : mode === 'table' ? (
        <LaneTable lanes={lanes} nowMs={nowMs} />
      ) : (
        <LaneCanvas
          lanes={lanes}
          range={range}
          nowMs={nowMs}
          onZoom={zoom}
          onPan={pan}
          onOpen={(item) => {
            navigate(jobRoute(item.jobId));
          }}
        />
      )}
    </section>
  );
}
