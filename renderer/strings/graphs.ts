/** Strings of a job's graphs. */
export const graphs = {
  tab: 'Graphs',
  intro:
    'Cards are those of the job alone; processors, memory and disks are of the whole machine. Kept for a week.',
  noneTitle: 'Nothing to draw yet',
  noneBody: 'Once the job runs, the use of its cards and of its machine is drawn here over its run.',
  firstMachines: (shown: number, all: number): string =>
    `The ${shown} machines with most of its tasks, of ${all}.`,
  memoryNow: (size: string): string => `${size} in use when last measured`,
  cpuTime: (time: string): string => `${time} of processor time`,
  diskRead: (size: string): string => `${size} read from disk`,
  diskWritten: (size: string): string => `${size} written`,
  gpuMean: (percent: number): string => `GPU ${Math.round(percent)}% busy on average`,
  gpuMemory: (size: string): string => `up to ${size} of GPU memory`,
  energy: (joules: number): string => {
    const hours = joules / 3600;
    return hours < 1000
      ? `${Math.round(hours)} Wh drawn by its GPUs`
      : `${(hours / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })} kWh drawn by its GPUs`;
  },
  foreign: (cards: readonly string[]): string =>
    `Its processes also computed on ${cards.join(', ')}, which it was not given.`,
  graphsOf: (machine: string): string => `Graphs of ${machine}`,
  trend: (machine: string, range: string): string => `${machine} in the last ${range}`,
} as const;
