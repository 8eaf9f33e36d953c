/** How far the copy of a container's log has come, as it is noted beside the files. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const pointSchema = z.strictObject({
  stamp: z.string().nullable(),
  atStamp: z.number(),
  total: z.number(),
  wentBack: z.boolean(),
});
const placeSchema = z.strictObject({
  container: z.string(),
  point: z.strictObject({ out: pointSchema, err: pointSchema }),
  /** Sizes of the files at this place, and where this container's part of them begins. */
  sizes: z.strictObject({ out: z.number(), err: z.number() }),
  begins: z.strictObject({ out: z.number(), err: z.number() }),
});
export type Place = z.infer<typeof placeSchema>;

export const placeFile = (folder: string): string => path.join(folder, 'log-place.json');

export function readPlace(folder: string): Place | null {
  try {
    return placeSchema.parse(JSON.parse(readFileSync(placeFile(folder), 'utf8')));
  } catch {
    return null; // none yet
  }
}

/** The files have at least these sizes. */
export const fits = (sizes: Place['sizes'], now: Place['sizes']): boolean =>
  sizes.out <= now.out && sizes.err <= now.err;
