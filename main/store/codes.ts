/** Words of the contract as the numbers stored: states by `job.proto`, bands by rank. */
import { z } from 'zod';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import {
  bands,
  type AttemptState,
  type Band,
  type JobState,
  type TaskState,
  type UpperBand,
} from '../../core/contract/states.js';
import { upperBandSchema } from '../../core/contract/state-schemas.js';
import { schedulingStates, taintSchema } from '../../core/contract/machines.js';
import type { Machine, TaskClaim } from '../../core/model/entities.js';
import { causeSchema, type Cause } from '../../core/contract/views.js';

export const stateNumbers = {
  PENDING: 1,
  BUILDING: 2,
  RUNNING: 3,
  SUCCEEDED: 4,
  FAILED: 5,
  KILLED: 6,
  WORKER_FAILED: 7,
  UNSCHEDULABLE: 8,
  ASSIGNED: 9,
  PREEMPTED: 10,
  COSCHED_FAILED: 11,
} as const satisfies Record<JobState | TaskState | AttemptState, number>;

type AnyState = keyof typeof stateNumbers;

const byNumber = new Map<number, AnyState>(
  (Object.keys(stateNumbers) as AnyState[]).map((state) => [stateNumbers[state], state]),
);

function unknownValue(column: string, value: unknown, expected: string): RefusalError {
  return new RefusalError(
    refusal(
      'DATABASE_CORRUPT',
      `The database holds ${JSON.stringify(value)} as ${column}; expected ${expected}.`,
    ),
  );
}

function stateOf(value: number): AnyState {
  const state = byNumber.get(value);
  if (state === undefined) throw unknownValue('a state', value, 'a number from 1 to 11');
  return state;
}

export function jobStateOf(value: number): JobState {
  const state = stateOf(value);
  switch (state) {
    case 'BUILDING':
    case 'ASSIGNED':
    case 'PREEMPTED':
    case 'COSCHED_FAILED':
      throw unknownValue("a job's state", value, 'a state a job can have');
    default:
      return state;
  }
}

export function taskStateOf(value: number): TaskState {
  return stateOf(value);
}

export function attemptStateOf(value: number): AttemptState {
  const state = stateOf(value);
  if (state === 'PENDING' || state === 'UNSCHEDULABLE') {
    throw unknownValue("an attempt's state", value, 'a state an attempt can have');
  }
  return state;
}

export function bandNumber(band: Band): number {
  return bands.indexOf(band);
}

export function bandOf(value: number): Band {
  const band = bands[value];
  if (band === undefined) throw unknownValue('a band', value, `a number from 0 to ${bands.length - 1}`);
  return band;
}

const codeSchema = causeSchema.shape.code;

export function causeOf(code: string | null, message: string | null): Cause | null {
  if (code === null) return null;
  const known = codeSchema.safeParse(code);
  if (!known.success) throw unknownValue('a cause', code, 'a code of the contract');
  return { code: known.data, message: message ?? '' };
}

export function warningsOf(text: string): Cause[] {
  const known = causeSchema.array().safeParse(JSON.parse(text));
  if (!known.success) throw unknownValue('warnings', text, 'codes of the contract, each with its message');
  return known.data;
}

const claimSchema = z.strictObject({
  workerId: z.string(),
  devices: z.array(z.string()),
  band: z.enum(bands),
  waitsFor: z.array(z.string()),
  sinceMs: z.number(),
});

export function claimOf(text: string): TaskClaim {
  const known = claimSchema.safeParse(JSON.parse(text));
  if (!known.success) throw unknownValue('the place a task waits for', text, 'a worker, devices and a band');
  return known.data;
}

export function schedulingOf(text: string): Machine['scheduling'] {
  const known = schedulingStates.find((state) => state === text);
  if (known === undefined)
    throw unknownValue("a machine's scheduling", text, `one of ${schedulingStates.join(', ')}`);
  return known;
}

export function taintsOf(text: string): Machine['taints'] {
  const known = taintSchema.array().safeParse(JSON.parse(text));
  if (!known.success) throw unknownValue('taints', text, 'a list of keys and values');
  return known.data;
}

export function allowedBandsOf(text: string): UpperBand[] {
  const known = upperBandSchema.array().safeParse(JSON.parse(text));
  if (!known.success) throw unknownValue('rights to bands', text, 'a list of SYSTEM and PRODUCTION');
  return known.data;
}
