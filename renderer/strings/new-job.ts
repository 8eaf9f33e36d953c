/** Strings of the New job page. */
export const newJob = {
  title: 'New job',
} as const;
