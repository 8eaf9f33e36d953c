import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkMachine } from './check-machine.js';

test('where there is no SSH client that is said, with what to do', async () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'iris-check-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const { checks, usable } = await checkMachine({
    address: 'ssh://ws-2',
    acceptKey: null,
    home,
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    client: { program: '/nowhere/ssh' },
  });
  expect(usable).toBe(false);
  expect(checks[0]).toMatchObject({
    step: 'reach',
    outcome: 'FAILED',
    message: expect.stringContaining('The SSH client /nowhere/ssh cannot be run: '),
    advice: 'Install OpenSSH (apt install openssh-client).',
  });
});
