/** An output that is kept. */
import { Writable } from 'node:stream';
import { createOutput, type Output } from '../../main/cli/output.js';

export interface KeptOutput {
  readonly output: Output;
  out(): string;
  err(): string;
  outBytes(): Buffer;
  /** Both streams, in the order they were written. */
  all(): string;
}

/** `outBreaksAfter`: so many writes to standard output are taken, then its reader is gone. */
export function keptOutput(
  options: {
    readonly json?: boolean;
    readonly outBreaksAfter?: number | undefined;
    readonly isTerminal?: boolean;
    readonly columns?: number;
  } = {},
): KeptOutput {
  const parts: Record<'out' | 'err', Buffer[]> = { out: [], err: [] };
  const inOrder: Buffer[] = [];
  const stream = (name: 'out' | 'err') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (name === 'out' && parts.out.length === options.outBreaksAfter) {
          done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
          return;
        }
        parts[name].push(chunk);
        inOrder.push(chunk);
        done();
      },
    });
  const terminal = { isTTY: options.isTerminal ?? false, columns: options.columns ?? 80 };
  const output = createOutput(
    { out: Object.assign(stream('out'), terminal), err: Object.assign(stream('err'), terminal) },
    { json: options.json ?? false, colour: false },
  );
  return {
    output,
    out: () => Buffer.concat(parts.out).toString('utf8'),
    err: () => Buffer.concat(parts.err).toString('utf8'),
    all: () => Buffer.concat(inOrder).toString('utf8'),
    outBytes: () => Buffer.concat(parts.out),
  };
}
