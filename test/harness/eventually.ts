import { expect } from 'vitest';

/** `expect.poll` with the patience a busy machine needs; what is awaited normally takes milliseconds. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { timeout: 60_000, interval: 10 });
}
