/** How an Engine of another machine is listened to: by a program there that never lets a container wait. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { perlFromInput } from '../perl-from-input.js';
import relayText from './listen-relay.pl?raw';

/** Bytes that may wait there for a connection that is slow, or cut off. */
const mostWaiting = 256 * 1024;

/** For a shell there; `command` is of words without anything that a shell of any kind would read otherwise. */
export const listenCommand = (command: string): string =>
  `${perlFromInput(Buffer.byteLength(relayText))} ${mostWaiting} ${command}`;

/** What has to be written to it first. */
export function startRelay(child: ChildProcessWithoutNullStreams): void {
  // One that cannot be written to has ended, and says why by that.
  child.stdin.on('error', () => undefined);
  child.stdin.write(relayText);
}
