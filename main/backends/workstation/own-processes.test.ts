import { expect, test } from 'vitest';
import type { ProcessEntry } from '../../machine/processes.js';
import { launchOf } from '../../../test/harness/backend-probe.js';
import { OwnProcesses } from './own-processes.js';
import { newEntry } from './process/attempt-entry.js';

/** pid: parent, session */
const table: Readonly<Record<number, readonly [number, number]>> = {
  10: [1, 10],
  100: [10, 100],
  101: [100, 100],
  // In sessions of their own.
  102: [101, 102],
  103: [1, 103],
  200: [10, 10],
  // Each the other's parent, as a table that changes while it is read may say.
  300: [301, 300],
  301: [300, 300],
};
const environments: Readonly<Record<number, string>> = { 103: 'a1', 200: 'of-another-controller' };

function read(pid: number): ProcessEntry | null {
  const row = table[pid];
  if (row === undefined) return null;
  const [parentPid, sessionId] = row;
  return { pid, name: 'python', state: 'R', parentPid, groupId: sessionId, sessionId, startTicks: pid };
}

test('a process is known by its environment, its session, or who started it; any other is nobody of ours', () => {
  const entry = newEntry('a1', '/attempts/a1', launchOf({ command: ['true'] }));
  entry.supervisor = { bootId: 'boot', pid: 100, startTicks: 100 };
  const own = new OwnProcesses({
    processes: { read },
    isKnown: (uid) => uid === 'a1',
    environmentOf: (pid) => environments[pid] ?? null,
  });
  expect([103, 101].map((pid) => own.attemptOf(pid))).toEqual(['a1', null]);
  own.add(entry);
  // Its session's number may be another's while it was not seen alive.
  expect(own.attemptOf(101)).toBeNull();
  entry.sessionKnown = true;
  expect([100, 101, 102, 103].map((pid) => own.attemptOf(pid))).toEqual(['a1', 'a1', 'a1', 'a1']);
  expect([10, 200, 300, 999].map((pid) => own.attemptOf(pid))).toEqual([null, null, null, null]);
  own.remove('a1');
  expect([101, 102, 103].map((pid) => own.attemptOf(pid))).toEqual([null, null, 'a1']);
});
