/** The standard input and output of a program as one stream, which ends as the program does: only its last words say why. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';

/** `why` makes the error of a program that failed, from its exit code and what it said. */
export function programStream(
  child: ChildProcessWithoutNullStreams,
  why: (code: number | null, said: string) => Error,
): Duplex {
  let said = '';
  const stream = new Duplex({
    read: () => child.stdout.resume(),
    // One that cannot be written to has ended, or will: that tells more than the broken pipe.
    write: (piece: Uint8Array, _, done) => void child.stdin.write(piece, () => done()),
    final: (done) => {
      child.stdin.end();
      done();
    },
    destroy: (error, done) => {
      child.kill('SIGTERM');
      done(error);
    },
  });
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (piece: Buffer) => {
    if (!stream.push(piece)) child.stdout.pause();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000);
  });
  child.on('error', (error) => stream.destroy(error));
  child.on('close', (code) => {
    if (code === 0) stream.push(null);
    else stream.destroy(why(code, said.trim()));
  });
  return stream;
}
