/** Strings of graphs over time. */
import { formatSize } from '../../core/formats/sizes.js';

export const charts = {
  processors: 'Processors',
  memory: 'Memory',
  disks: 'Disks, per second',
  diskRead: 'Read',
  diskWritten: 'Written',
  gpuUse: 'GPU use',
  gpuMemory: 'GPU memory',
  gpuPower: 'GPU power',
  gpuHeat: 'GPU temperature',
  gpu: (index: number): string => `GPU ${index}`,
  percent: (value: number): string => `${Math.round(value)}%`,
  size: (value: number): string => formatSize(Math.max(0, value)),
  watts: (value: number): string => `${Math.round(value)} W`,
  celsius: (value: number): string => `${Math.round(value)} °C`,
  /** For screen readers, of one line. */
  lineSummary: (label: string, last: string | null, highest: string | null): string => {
    const name = label === '' ? '' : `${label}: `;
    if (highest === null) return `${name}nothing measured.`;
    return `${name}${last === null ? 'nothing now' : `${last} now`}, at most ${highest}.`;
  },
  range: 'Time shown',
  ranges: {
    whole: 'Whole run',
    '10min': '10 min',
    '1h': '1 h',
    '24h': '24 h',
    '7d': '7 days',
  } as const,
  pause: 'Pause',
  goOn: 'Go on',
  what: 'The load over time',
  noneTitle: 'Nothing measured yet',
  noneBody: 'The load is written down every two seconds while the machine answers.',
  noGpuFigures: 'No figure of its cards was measured in this time.',
  keyPause: 'Pause the graphs, or let them go on',
  keyCursor: 'Move along a graph',
} as const;
