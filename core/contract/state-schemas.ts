/** States and bands as schemas. Apart from states.ts: window and desktop start without schemas. */
import { z } from 'zod';
import { attemptStates, bands, jobStates, taskStates, upperBands } from './states.js';

export const jobStateSchema = z.enum(jobStates);
export const taskStateSchema = z.enum(taskStates);
export const attemptStateSchema = z.enum(attemptStates);
export const bandSchema = z.enum(bands);
export const upperBandSchema = z.enum(upperBands);
