import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { refuseLostBytes } from '../../main/cli/raw-arguments.js';

const cli = path.join(import.meta.dirname, '..', '..', 'out', 'main', 'cli.js');

it.skipIf(process.platform !== 'linux')(
  'a word that is no UTF-8 is refused, and nothing else is done',
  () => {
    // Where no host could be started, also by an irisctl that goes on.
    const script = `exec "$0" "$1" --home /dev/null/none job run -- ls "$(printf 'caf\\351.txt')"`;
    const run = spawnSync('sh', ['-c', script, process.execPath, cli], { encoding: 'utf8' });
    expect(run.stderr).toBe(
      'irisctl: The word caf\ufffd.txt holds bytes that are no UTF-8, which irisctl cannot hand on as they are. Put the command into a script and run that, or rename what it is about.\n',
    );
    expect(run.status).toBe(125);
  },
);

it('a sign for what is no letter that was typed as such goes on, and so does all where no bytes can be had', () => {
  const typed = Buffer.from('irisctl\0echo\0\ufffd\0');
  expect(refuseLostBytes(['echo', '\ufffd'], () => typed).ok).toBe(true);
  expect(refuseLostBytes(['echo', '\ufffd'], () => null).ok).toBe(true);
  expect(refuseLostBytes(['echo', '\ufffd'], () => Buffer.from([0x63, 0xe9, 0])).ok).toBe(false);
  expect(refuseLostBytes(['echo', 'é'], () => Buffer.from([0xe9])).ok).toBe(true);
});
