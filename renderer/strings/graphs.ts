/** Strings of a job's graphs. */
export const graphs = {
  tab: 'Graphs',
  intro: 'Cards are those of the job alone; processors and memory are of the whole machine. Kept for a week.',
  noneTitle: 'Nothing to draw yet',
  noneBody: 'Once the job runs, the use of its cards and of its machine is drawn here over its run.',
  firstMachines: (shown: number, all: number): string =>
    `The ${shown} machines with most of its tasks, of ${all}.`,
  trend: (machine: string): string => `${machine} in the last 10 minutes`,
} as const;
