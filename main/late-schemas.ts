/**
 * What every file of the main side gets as `zod` when it is built (vite.main.config.ts): a schema is noted when its line runs, and made when
 * it is first asked for something. There are some hundreds of them in the contract and the formats; making them all was a good part of
 * what a program's first lines cost, and a start asks few of them.
 */
import { z as real } from 'zod';

/** What makes another schema of one, and so can wait as well. All else is asked of the schema itself, once it is made. */
const steps: ReadonlySet<string | symbol> = new Set([
  ...['array', 'catch', 'check', 'default', 'int', 'max', 'min', 'nullable', 'nullish', 'optional'],
  ...['partial', 'pipe', 'positive', 'refine', 'regex', 'startsWith', 'superRefine', 'transform', 'trim'],
]);

/** How each late schema is made. */
const makers = new WeakMap<object, () => object>();

function later(make: () => unknown): object {
  let made: object | null = null;
  const now = (): object => {
    if (made !== null) return made;
    const schema = make();
    if (typeof schema !== 'object' || schema === null)
      throw new TypeError('What was to be a schema is none.');
    made = schema;
    return schema;
  };
  const late = new Proxy(Object.create(null) as object, {
    get(_target, key) {
      if (made === null && steps.has(key))
        return (...parameters: readonly unknown[]) => later(() => call(now(), key, parameters));
      const value: unknown = Reflect.get(now(), key);
      if (typeof value !== 'function') return value;
      return (...parameters: readonly unknown[]): unknown => Reflect.apply(value, now(), parameters);
    },
    has: (_target, key) => Reflect.has(now(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(now()),
  });
  makers.set(late, now);
  return late;
}

function call(schema: object, step: string | symbol, parameters: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(schema, step);
  if (typeof method !== 'function') throw new TypeError(`This schema has no ${String(step)}.`);
  return Reflect.apply(method, schema, parameters.map(madeOf));
}

/** The same with schemas that are made: zod's look into each other often, and shall not do so through a late one each time. */
function madeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const make = makers.get(value);
  if (make !== undefined) return make();
  if (Array.isArray(value)) return value.map(madeOf);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, madeOf(inner)]));
}

/** A function of zod that makes a schema, made to wait. */
function waiting(make: (...parameters: never[]) => unknown) {
  return (...parameters: readonly unknown[]): object =>
    later(() => Reflect.apply(make, undefined, parameters.map(madeOf)) as unknown);
}

/** All of zod that the main side uses; the build refuses what is not here. */
export const z = {
  array: waiting(real.array),
  base64: waiting(real.base64),
  boolean: waiting(real.boolean),
  custom: waiting(real.custom),
  discriminatedUnion: waiting(real.discriminatedUnion),
  enum: waiting(real.enum),
  literal: waiting(real.literal),
  looseObject: waiting(real.looseObject),
  number: waiting(real.number),
  object: waiting(real.object),
  partialRecord: waiting(real.partialRecord),
  preprocess: waiting(real.preprocess),
  record: waiting(real.record),
  strictObject: waiting(real.strictObject),
  string: waiting(real.string),
  tuple: waiting(real.tuple),
  union: waiting(real.union),
  unknown: waiting(real.unknown),
  NEVER: real.NEVER,
};
