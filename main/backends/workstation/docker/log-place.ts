/** How far the copy of a container's log has come, as it is noted beside the files. */
import { fstatSync, readFileSync, readSync, writeSync } from 'node:fs';
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

const start = { out: 0, err: 0 };

/** Where a copy of another container begins: behind what was copied, as far as the files are still as they were noted. */
export function beginBehind(noted: Place | null, now: Place['sizes']): Place['sizes'] {
  if (noted === null) return start;
  const places = [noted.sizes, noted.begins];
  return places.find((place) => fits(place, now)) ?? start;
}

export function sizeOf(file: number): number {
  return fstatSync(file).size;
}

export function readBetween(file: number, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(to - from);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
}

export function writeAll(file: number, data: Uint8Array): void {
  for (let at = 0; at < data.length;) at += writeSync(file, data, at);
}
