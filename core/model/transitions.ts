/** Every way rows change. Each takes a `Draft`, the time and every random value; `settle` closes a batch. */
export { submit, type Submission, type Submitted } from './submit.js';
export { cancel, complete, type CancelOptions, type Cancelled } from './cancel.js';
export { assign, type Assignment } from './assign.js';
export { observe, observeAll, type Observation, type ObserveOutcome } from './observe.js';
export { executionTimeouts, preempt, schedulingDeadlines, workerLost, type Elapsed } from './timeouts.js';
export { settle } from './settle.js';
export { desiredAttempts, type Desired, type DesiredStop } from './desired.js';
