/** Words of the command line that Node could not read: it puts a sign in place of bytes that are no UTF-8, and says nothing. */
import { readFileSync } from 'node:fs';
import { refuse, ok, type Result } from '../../core/contract/errors.js';

const replaced = '\ufffd';

/** Refuses what would go into a job other than it was typed. `readCommandLine`: its bytes, null where the system does not give them. */
export function refuseLostBytes(
  argv: readonly string[],
  readCommandLine: () => Uint8Array | null = ownCommandLine,
): Result<null> {
  const word = argv.find((one) => one.includes(replaced));
  if (word === undefined) return ok(null);
  const bytes = readCommandLine();
  // The sign may have been typed as well.
  if (bytes === null || isUtf8(bytes)) return ok(null);
  const expected = 'words in UTF-8';
  return refuse(
    'INVALID_ARGUMENT',
    `The word ${word} holds bytes that are no UTF-8, which irisctl cannot hand on as they are. Put the command into a script and run that, or rename what it is about.`,
    [{ field: 'command line', value: word, expected }],
  );
}

function ownCommandLine(): Uint8Array | null {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return null; // not this system
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
