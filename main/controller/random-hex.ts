/** Random text from a pool: a call of the system for each attempt costs more than the attempt's whole decision. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let taken = pool.length;

/** Reads Node's cryptography and fills the pool: 15 ms in Electron, so that neither a start nor its first job has to. */
export function fillPool(): void {
  randomFillSync(pool);
  taken = 0;
}

/** `bytes` unguessable bytes (4096 at most) in hex; none is given out twice. */
export function randomHex(bytes: number): string {
  if (taken + bytes > pool.length) fillPool();
  const text = pool.toString('hex', taken, taken + bytes);
  taken += bytes;
  return text;
}
