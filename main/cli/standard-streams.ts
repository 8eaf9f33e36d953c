/** Our standard output and error. */
import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { OutputStream } from './output.js';

/**
 * A file is written to by ourselves: a disk that gets full takes a part of what is written, which the system tells and Node's own stream
 * passes over; the rest would be missing without a word.
 */
export function standardStream(stream: OutputStream & { readonly fd: number }): OutputStream {
  return fstatSync(stream.fd).isFile() ? fileStream(stream.fd) : stream;
}

function fileStream(fd: number): OutputStream {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}
