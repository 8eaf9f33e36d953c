/** Strings of the Job page. */
export const job = {
  title: 'Job',
} as const;
