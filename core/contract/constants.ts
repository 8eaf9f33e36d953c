/** Apart from the contract itself: who only needs these starts without its schemas, which take a good part of a start. */

/** Raised with every change of a method, topic or view that an older peer cannot read. */
export const contractVersion = 11;

export const jobSortKeys = ['submitted', 'name', 'state', 'finished', 'duration'] as const;
