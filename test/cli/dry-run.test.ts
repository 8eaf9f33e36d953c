/** `job run --dry-run`: what the window shows beside the fields is said here as well. */
import { afterEach, expect, it } from 'vitest';
import type { MethodResult } from '../../core/contract/api.js';
import { runCommand } from '../../main/cli/commands/run.js';
import { testContext } from './context.js';
import { FakeHost } from './fake-host.js';

let host: FakeHost;
afterEach(() => host.dispose());

const missing = {
  field: 'workingDirectory',
  value: '/missing/project',
  expected: 'a folder that exists on ws-1 and may be entered',
};
const checked: MethodResult<'job.check'> = {
  fields: [missing],
  verdict: 'STARTS_NOW',
  message: 'Starts now on ws-1.',
  commandLine: 'irisctl job run -- true',
  dryRun: {
    verdict: 'STARTS_NOW',
    message: 'Starts now on ws-1.',
    places: [{ index: 0, workerId: 'ws-1', devices: [], provisional: false }],
    evicts: [],
    waiting: 0,
    passesLimit: null,
    explanation: null,
    demoted: null,
  },
};

async function dryRun(json: boolean) {
  host = await FakeHost.start({ 'job.check': () => checked });
  const made = testContext(host.home, { json });
  try {
    expect(await runCommand(made.context, ['--dry-run', '--', 'true'], null)).toBe(0);
    return made.out();
  } finally {
    made.context.link.close();
  }
}

it('says that the working folder is not on the machine the job would go to', async () => {
  expect(await dryRun(false)).toBe(
    [
      'Starts now on ws-1.',
      'Working folder /missing/project: expected a folder that exists on ws-1 and may be entered.',
      '  task 0 on ws-1',
      'Nothing was submitted.',
      '',
    ].join('\n'),
  );
});

it('says so to programs by the field', async () => {
  expect(JSON.parse(await dryRun(true))).toMatchObject({ verdict: 'STARTS_NOW', fields: [missing] });
});
