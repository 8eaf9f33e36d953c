/** What the thread of the round's bench hands out. */

export interface RoundResult {
  /** What stood while it was measured, in words. */
  readonly standing: string;
  /** What became of the measured submissions, in words. */
  readonly outcomes: string;
  /** From a submission to its answer, which comes after the commit; milliseconds. */
  readonly roundMs: readonly number[];
  /** Processor time of the whole process meanwhile. */
  readonly roundCpuMs: readonly number[];
  /** A commit of one number to the same store, taken in turn with the submissions. */
  readonly commitMs: readonly number[];
  /** From the submission of the largest job to its answer. */
  readonly largeMs: readonly number[];
  /** Replicas of that job. */
  readonly replicas: number;
}

/** What the thread tells its application. */
export type RoundMessage =
  | { readonly kind: 'phase'; readonly phase: RoundPhase }
  | { readonly kind: 'done'; readonly result: RoundResult };

export type RoundPhase = 'load' | 'rounds' | 'large';

/** What the application writes down at its end. */
export interface RoundReport {
  readonly result: RoundResult;
  /** The longest time its main thread did not answer to a timer, by what the other thread did meanwhile. */
  readonly longestBlockMs: Readonly<Partial<Record<RoundPhase, number>>>;
}
