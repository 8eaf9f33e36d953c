import { expect, it } from 'vitest';
import { formatClockDay } from './common.js';
import { detailRecord, detailText } from './audit-detail.js';

const at = Date.UTC(2026, 10, 30, 6, 0, 5);

it.each([
  ['an end', { uid: 'abcd', state: 'FAILED', exitCode: 3, cause: 'EXIT_CODE' }, 'Failed, exit code 3'],
  [
    'an end for want of memory',
    { uid: 'abcd', state: 'FAILED', exitCode: 137, signal: 'SIGKILL', cause: 'MEMORY_LIMIT' },
    'Failed, exit code 137, signal SIGKILL, memory limit',
  ],
  [
    'an end without a code',
    { state: 'WORKER_FAILED', exitCode: null, cause: 'REBOOTED' },
    'Worker lost, rebooted',
  ],
  [
    'a placement',
    { attempt: 'abcd', number: 0, worker: 'ws-1', devices: ['GPU-1', 'GPU-2'] },
    'attempt 1, on ws-1, with 2 GPUs',
  ],
  [
    'a placement of who is over the limit',
    { attempt: 'abcd', number: 1, worker: 'ws-1', band: 'BATCH', spend: 1230, limit: 1000 },
    'attempt 2, on ws-1, band batch, 1,230 of 1,000 in use',
  ],
  ['a submission', { tasks: 1, band: 'INTERACTIVE' }, '1 task, band interactive'],
  [
    'a retry',
    { afterAttempt: 0, failures: 1, preemptions: 0, cause: 'EXIT_CODE' },
    'after attempt 1, 1 failure, exit code',
  ],
  ['an emptying of caches', { emptied: ['uv', 'hf'], bytes: 4096 }, 'uv, hf, 4 KiB'],
  ['a stop', { jobs: ['/a/b', '/a/b/c'] }, '2 jobs'],
  ['a band', { kind: 'band', band: 'BATCH' }, 'band becomes batch'],
  ['a move', { kind: 'move', to: 'first' }, 'moved, to front'],
  ['a hold', { kind: 'hold' }, 'held'],
  [
    'a start after a power cut',
    { version: '1.2.0', host: 'desktop', pid: 4001, unfinished: 2, afterUncleanEnd: true },
    'version 1.2.0, in the app, process 4001, 2 attempts to take up again, the one before it ended without a word',
  ],
  [
    'a start',
    { version: '1.2.0', host: 'headless', pid: 1, unfinished: 0 },
    'version 1.2.0, without a window, process 1',
  ],
  ['a stop of the controller', { reason: 'the desktop quits' }, 'the desktop quits'],
  [
    'a notice',
    { uid: 'abcd', forJob: '/anna/demo', signal: 'SIGTERM', killedAtMs: at },
    `for /anna/demo, signal SIGTERM, killed at ${formatClockDay(at)} if it has not left`,
  ],
  [
    'a warning, with a time in its sentence',
    { uid: 'abcd', code: 'GPU_IDLE', message: 'Idle since 2026-11-30 06:00:05 UTC.', atMs: at },
    `Idle since ${formatClockDay(at)}.`,
  ],
  [
    'a drain',
    {
      before: { scheduling: 'OPEN', drainDeadlineMs: null },
      after: { scheduling: 'DRAINING', drainDeadlineMs: at },
    },
    `state takes tasks becomes draining, deadline none becomes ${formatClockDay(at)}`,
  ],
  [
    'a taint',
    { before: { taints: [] }, after: { taints: [{ key: 'team', value: 'ml' }] } },
    'taints none becomes team=ml',
  ],
  [
    'a first budget',
    { before: null, after: { limit: 4000, maxBand: 'BATCH', allow: [], quota: { tasks: 10 } } },
    'limit 4,000, best band batch, rights none, quota tasks 10',
  ],
  [
    'a half-life',
    { before: { halfLifeMs: null }, after: { halfLifeMs: 7 * 86_400_000 } },
    'half-life off becomes 7 days',
  ],
  ['nothing', {}, ''],
  [
    'a field without words of its own',
    { someField: 'ODD_VALUE', waitMs: 90_000 },
    'some field odd value, wait 1m 30s',
  ],
])('tells of %s in words', (_what, detail, told) => {
  expect(detailText(detail)).toBe(told);
});

it('keeps what was written for the hover, and cuts a long line', () => {
  expect(detailRecord({ uid: 'abcd', after: { limit: 1 } })).toBe('uid: abcd\nafter: {"limit":1}');
  expect(detailText({ message: 'x'.repeat(400) })).toHaveLength(301);
});
