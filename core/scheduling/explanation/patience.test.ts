/** What is said of a task that may take the place of others, but waits first. */
import { describe, expect, test } from 'vitest';
import { timeText } from '../../formats/times.js';
import { minute, TestCluster, worker } from '../test-cluster.js';
import { explainJob } from './explanation.js';

function explain(world: TestCluster, jobId: string) {
  const { cluster, rules, nowMs } = world;
  const explanation = explainJob({ cluster, decision: world.decide(), rules, nowMs }, jobId);
  if (explanation === null) throw new Error(`${jobId} does not wait`);
  return explanation;
}

describe('a task that may evict, but gives others time first', () => {
  test('names how long, and until when', () => {
    const made = new TestCluster([worker('w1')]);
    made.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH', startedAtMs: made.nowMs - 10 * minute });
    made.submit('/ann/a', { band: 'INTERACTIVE' });
    const { message, reasons } = explain(made, '/ann/a');
    const at = timeText(made.nowMs + 2 * minute);
    expect(message).toBe(
      `Waits for 1 CPU core (0 of 4 free). It may take the place of batch work when it has waited 2m 00s, at ${at}.`,
    );
    expect(reasons.map(({ kind }) => kind)).toEqual(['capacity', 'backend']);
  });

  test.each([
    ['it may evict nobody', { band: 'BATCH' }],
    ['it has waited long enough', { band: 'INTERACTIVE', waitedMs: 2 * minute }],
    ['it need not wait', { band: 'PRODUCTION' }],
    ['what runs is as good as it is', { band: 'INTERACTIVE', beside: 'INTERACTIVE' }],
  ] as const)('says nothing of it when %s', (_when, { band, ...more }) => {
    const made = new TestCluster([worker('w1')]);
    const beside = 'beside' in more ? more.beside : 'BATCH';
    made.run('/bob/a', 'w1', { cpu: 4, band: beside, startedAtMs: made.nowMs - 10 * minute });
    const waitedMs = 'waitedMs' in more ? more.waitedMs : 0;
    made.submit('/ann/a', { band, waitingSinceMs: made.nowMs - waitedMs });
    expect(explain(made, '/ann/a').message).not.toContain('take the place');
  });
});
