/** Graphs of one machine's load, or of some of its cards: processors, memory, disks, and of cards use, memory, power and temperature. */
import { useMemo } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../feedback.js';
import { charts as words } from '../../strings/charts.js';
import { graphColumns, type HistoryData } from './history-data.js';
import styles from './load-charts.module.css';
import { TimeChart, type ChartLine } from './time-chart.js';
import { useHistory, type HistorySpan } from './use-history.js';

export type LoadFigure = 'cpu' | 'memory' | 'disk' | 'gpu-use' | 'gpu-memory' | 'gpu-power' | 'gpu-heat';

/** All there are, in their order on a page. */
export const loadFigures: readonly LoadFigure[] = [
  'cpu',
  'memory',
  'disk',
  'gpu-use',
  'gpu-memory',
  'gpu-power',
  'gpu-heat',
];

export interface LoadChartsProps {
  readonly machine: Pick<MachineView, 'id' | 'memoryTotalBytes' | 'gpus'>;
  readonly span: HistorySpan;
  readonly paused: boolean;
  readonly figures: readonly LoadFigure[];
  /** Only these cards; null: all. */
  readonly devices?: readonly string[] | null;
  readonly height?: number;
}

interface Figure {
  readonly title: string;
  readonly key: string;
  readonly text: (value: number) => string;
  readonly most: (machine: LoadChartsProps['machine'], keys: readonly string[]) => number | null;
  readonly steps: readonly number[] | null;
}

const percents = [25, 50, 100];
const gib = 1024 ** 3;
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].flatMap((step) => [step * 1024 ** 2, step * gib]);
sizes.sort((a, b) => a - b);

const figures: Readonly<Record<LoadFigure, Figure>> = {
  cpu: {
    title: words.processors,
    key: 'cpu-percent',
    text: words.percent,
    most: () => 100,
    steps: percents,
  },
  memory: {
    title: words.memory,
    key: 'memory-bytes',
    text: words.size,
    most: (machine) => (machine.memoryTotalBytes === 0 ? null : machine.memoryTotalBytes),
    steps: sizes,
  },
  disk: { title: words.disks, key: 'disk-bytes', text: words.size, most: () => null, steps: sizes },
  'gpu-use': {
    title: words.gpuUse,
    key: 'gpu-percent',
    text: words.percent,
    most: () => 100,
    steps: percents,
  },
  'gpu-memory': {
    title: words.gpuMemory,
    key: 'gpu-memory-bytes',
    text: words.size,
    most: (machine, keys) => {
      const totals = machine.gpus.flatMap((gpu) =>
        keys.includes(gpu.uuid) && gpu.memoryTotalBytes !== null ? [gpu.memoryTotalBytes] : [],
      );
      return totals.length === 0 ? null : Math.max(...totals);
    },
    steps: sizes,
  },
  'gpu-power': { title: words.gpuPower, key: 'gpu-watts', text: words.watts, most: () => null, steps: null },
  'gpu-heat': {
    title: words.gpuHeat,
    key: 'gpu-celsius',
    text: words.celsius,
    most: () => null,
    steps: null,
  },
};

/** Cards of which the figure was measured in this time, in the machine's order; those that are gone go last. */
function cardsWith(
  figure: Figure,
  data: HistoryData,
  gpus: MachineView['gpus'],
  devices: readonly string[] | null,
): ChartLine[] {
  const measured = [...data.series].flatMap(([key, values]) =>
    key.startsWith(`${figure.key}:`) && values.some((value) => value !== null)
      ? [key.slice(figure.key.length + 1)]
      : [],
  );
  const wanted = measured.filter((uuid) => devices?.includes(uuid) ?? true);
  // A card has its colour in every figure, also where others have no such figure.
  const shown = gpus.filter(({ uuid }) => devices?.includes(uuid) ?? true);
  const place = (uuid: string) => {
    const at = shown.findIndex((gpu) => gpu.uuid === uuid);
    return at === -1 ? Infinity : at;
  };
  return wanted
    .sort((a, b) => place(a) - place(b))
    .map((uuid, index) => {
      const at = place(uuid);
      const gpu = gpus.find((card) => card.uuid === uuid);
      return {
        key: `${figure.key}:${uuid}`,
        label: gpu === undefined ? uuid.slice(0, 12) : words.gpu(gpu.index),
        hint: gpu === undefined ? uuid : `${gpu.name}, ${uuid}`,
        look: at === Infinity ? shown.length + index : at,
      };
    });
}

export function LoadCharts(props: LoadChartsProps) {
  const { machine, span, paused, height = 120 } = props;
  const state = useHistory(machine.id, span, paused);
  if (state.kind === 'failed') return <ErrorState what={words.what} refusal={state.refusal} />;
  if (state.kind === 'loading') {
    return (
      <div className={styles['charts']}>
        <LoadingNote />
        {props.figures.map((name) => (
          <div key={name} className={styles['skeleton']}>
            <Skeleton width={110} height={12} />
            <Skeleton width="100%" height={height - 20} />
          </div>
        ))}
      </div>
    );
  }
  if (state.data.timesMs.length === 0)
    return <EmptyState title={words.noneTitle}>{words.noneBody}</EmptyState>;
  return <Drawn {...props} data={state.data} fromMs={state.fromMs} toMs={state.toMs} />;
}

interface DrawnProps extends LoadChartsProps {
  readonly data: HistoryData;
  readonly fromMs: number;
  readonly toMs: number;
}

function Drawn(props: DrawnProps) {
  const { machine, data, fromMs, toMs, devices = null, height = 120 } = props;
  const { gpus } = machine;
  const wanted = props.figures.join(' ');
  const drawn = useMemo(
    () =>
      loadFigures
        .filter((name) => wanted.split(' ').includes(name))
        .flatMap((name) => {
          const figure = figures[name];
          const lines = name.startsWith('gpu')
            ? cardsWith(figure, data, gpus, devices)
            : [
                { key: figure.key, label: figure.title },
                { key: `${figure.key}:read`, label: words.diskRead },
                { key: `${figure.key}:written`, label: words.diskWritten },
              ].filter(({ key }) => data.series.has(key));
          if (lines.length === 0) return [];
          const keys = lines.map(({ key }) => key);
          const uuids = keys.map((key) => key.slice(figure.key.length + 1));
          return [{ name, figure, lines, columns: graphColumns(data, keys, toMs), uuids }];
        }),
    [data, gpus, devices, wanted, toMs],
  );
  return (
    <div className={styles['charts']}>
      {drawn.map(({ name, figure, lines, columns, uuids }) => (
        <TimeChart
          key={name}
          title={figure.title}
          lines={lines}
          data={columns}
          fromMs={fromMs}
          toMs={toMs}
          most={figure.most(machine, uuids)}
          text={figure.text}
          steps={figure.steps}
          group={machine.id}
          height={height}
        />
      ))}
      {machine.gpus.length > 0 && drawn.every(({ name }) => !name.startsWith('gpu')) ? (
        <p className="iris-muted">{words.noGpuFigures}</p>
      ) : null}
    </div>
  );
}
