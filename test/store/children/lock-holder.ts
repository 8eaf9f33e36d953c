/** Takes the folder named by its argument, says `held` or the refusal, and stays until its input ends. */
import { acquireOwnerLock } from '../../../main/store/owner-lock.js';
import { RefusalError } from '../../../core/contract/errors.js';

const [folder = ''] = process.argv.slice(2);
try {
  const lock = acquireOwnerLock(folder, {
    bootId: 'boot-of-the-test',
    pid: process.pid,
    startTime: '12345',
    host: 'headless',
    version: '0.1.0',
  });
  process.stdout.write('held\n');
  process.stdin.resume();
  process.stdin.on('end', () => {
    lock.release();
    process.exit(0);
  });
} catch (error) {
  process.stdout.write(`${error instanceof RefusalError ? JSON.stringify(error.refusal) : String(error)}\n`);
  process.exit(3);
}
