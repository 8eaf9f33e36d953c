import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseJobRequest, type JobSpec } from '../../core/contract/job-request.js';
import type { DryRun } from '../../core/contract/explanation.js';
import { FolderLooks } from './folder-looks.js';

function specIn(workingDirectory: string, machine?: string): JobSpec {
  const parsed = parseJobRequest({
    command: ['true'],
    workingDirectory,
    ...(machine === undefined ? {} : { machine }),
  });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

const places = (...machines: readonly string[]): DryRun =>
  ({
    places: machines.map((workerId, index) => ({ index, workerId, devices: [], provisional: false })),
  }) as unknown as DryRun;

const wrong = (value: string, where: string) => [
  { field: 'workingDirectory', value, expected: `a folder that exists on ${where} and may be entered` },
];

describe('whether a working folder is there', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is said of the machines it would go to, and of those alone where it is not', async () => {
    const asked: string[] = [];
    const looks = new FolderLooks({
      hasFolder: (machine, folder) => {
        asked.push(`${machine} ${folder}`);
        return Promise.resolve(machine !== 'ws-2');
      },
    });
    expect(await looks.missing(specIn('/data/x'), places('ws-1', 'ws-2', 'ws-2'))).toEqual(
      wrong('/data/x', 'ws-2'),
    );
    expect(asked).toEqual(['ws-1 /data/x', 'ws-2 /data/x']);
    expect(await looks.missing(specIn('/data/x'), places('ws-1'))).toEqual([]);
  });

  test('of a job that waits, of the machine it names; without one nobody is asked', async () => {
    const hasFolder = vi.fn(() => Promise.resolve(false));
    const looks = new FolderLooks({ hasFolder });
    expect(await looks.missing(specIn('/x'), places())).toEqual([]);
    expect(hasFolder).not.toHaveBeenCalled();
    expect(await looks.missing(specIn('/x', 'ws-2'), places())).toEqual(wrong('/x', 'ws-2'));
  });

  test('is waited for a moment only; what comes later is said in the next check, and nothing is asked twice meanwhile', async () => {
    const answers: ((found: boolean) => void)[] = [];
    const hasFolder = vi.fn(() => new Promise<boolean>((resolve) => answers.push(resolve)));
    const looks = new FolderLooks({ hasFolder });
    const first = looks.missing(specIn('/slow'), places('ws-2'));
    await vi.advanceTimersByTimeAsync(500);
    expect(await first).toEqual([]);
    // Nothing to wait for: it answers at once.
    expect(await looks.missing(specIn('/slow'), places('ws-2'))).toEqual([]);
    expect(hasFolder).toHaveBeenCalledTimes(1);
    answers[0]?.(false);
    await vi.advanceTimersByTimeAsync(0);
    const second = looks.missing(specIn('/slow'), places('ws-2'));
    await vi.advanceTimersByTimeAsync(500);
    expect(await second).toEqual(wrong('/slow', 'ws-2'));
    expect(hasFolder).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is asked of few folders at the same time where none is answered, and a machine that fails is none that lacks it', async () => {
    const hasFolder = vi.fn((machine: string) =>
      machine === 'broken' ? Promise.reject(new Error('gone')) : new Promise<boolean>(() => undefined),
    );
    const looks = new FolderLooks({ hasFolder });
    for (const name of ['/m/a', '/m/ab', '/m/abc', '/m/abcd', '/m/abcde', '/m/abcdef']) {
      const check = looks.missing(specIn(name), places('ws-1'));
      await vi.advanceTimersByTimeAsync(500);
      expect(await check).toEqual([]);
    }
    expect(hasFolder).toHaveBeenCalledTimes(4);
    expect(await looks.missing(specIn('/m'), places('broken'))).toEqual([]);
  });
});
