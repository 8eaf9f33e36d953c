/** Refusals as schemas. Apart from errors.ts: window and desktop start without schemas, whose making is a good part of a start. */
import { z } from 'zod';
import { errorCodes, type ErrorCode, type FieldError, type Refusal } from './errors.js';

export const errorCodeSchema = z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]);

export const fieldErrorSchema = z.strictObject({
  field: z.string(),
  value: z.string(),
  expected: z.string(),
}) satisfies z.ZodType<FieldError>;

export const refusalSchema = z.strictObject({
  code: errorCodeSchema,
  message: z.string(),
  fields: z.array(fieldErrorSchema).default([]),
}) satisfies z.ZodType<Refusal>;
