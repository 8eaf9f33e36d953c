import { z as real } from 'zod';
import { expect, it, vi } from 'vitest';
import { z as late } from './late-schemas.js';

// What the files of the main side see when they are built: zod's own types over late schemas.
const z = late as unknown as typeof real;

it('makes nothing before it is asked', () => {
  const make = vi.fn((value: string) => value.length);
  const error = vi.fn(() => 'wrong');
  const schema = z
    .strictObject({
      list: z.array(z.string().min(2, { error }).transform(make)).max(3).default([]),
      kind: z.discriminatedUnion('of', [z.object({ of: z.literal('a') }), z.object({ of: z.literal('b') })]),
    })
    .nullable()
    .optional();
  expect(schema.parse({ list: ['ab', 'abc'], kind: { of: 'b' } })).toEqual({
    list: [2, 3],
    kind: { of: 'b' },
  });
  expect(schema.parse({ kind: { of: 'a' } })).toEqual({ list: [], kind: { of: 'a' } });
  expect(schema.parse(undefined)).toBeUndefined();
  const wrong = schema.safeParse({ list: ['a'], kind: { of: 'b' } });
  expect(wrong.error?.issues.map(({ path, message }) => [path, message])).toEqual([[['list', 0], 'wrong']]);
});

it('makes a schema once, and the same one for all that hold it', () => {
  const part = z.enum(['one', 'two']);
  const first = z.object({ part });
  const second = z.object({ part: part.optional() });
  expect(first.shape.part).toBe(second.shape.part.unwrap());
  expect(first.shape).toBe(first.shape);
});

it('is a schema to zod and to whoever asks what it is', () => {
  const schema = z.number().int();
  expect(schema).toBeInstanceOf(real.ZodNumber);
  expect('_zod' in schema).toBe(true);
  expect(real.array(schema).safeParse([1.5]).success).toBe(false);
  expect(z.object({ n: schema }).partial().parse({})).toEqual({});
  expect(z.preprocess((value) => Number(value), schema).parse('7')).toBe(7);
  expect(schema.describe('a number').parse(3)).toBe(3);
});

it('leaves alone what is no schema', () => {
  const fallback = new Date(0);
  const schema = z.custom<Date>((value) => value instanceof Date).default(fallback);
  expect(schema.parse(undefined)).toBe(fallback);
  expect(
    z.record(z.string().regex(/^x/), z.tuple([z.number(), z.boolean()])).parse({ x1: [1, true] }),
  ).toEqual({
    x1: [1, true],
  });
  expect(z.NEVER).toBe(real.NEVER);
});
