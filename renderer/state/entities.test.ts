import { describe, expect, it, vi } from 'vitest';
import { fakeSummary } from '../../test/harness/fake-data.js';
import { createJobEntities, type JobBatch } from './entities.js';

const a = fakeSummary({ id: '/anna/a' });
const b = fakeSummary({ id: '/anna/b' });

describe('job entities', () => {
  it('calls the listener of a row that changed and no other', () => {
    const jobs = createJobEntities();
    jobs.put([a, b]);
    const onA = vi.fn();
    const onB = vi.fn();
    jobs.listen(a.id, onA);
    jobs.listen(b.id, onB);
    jobs.apply([{ ...a, state: 'SUCCEEDED' }, { ...b }], []);
    expect(onA).toHaveBeenCalledTimes(1);
    expect(onB).not.toHaveBeenCalled();
    expect(jobs.get(a.id)?.state).toBe('SUCCEEDED');
  });

  it('gives one batch a delta, with what changed, what is new and what is gone', () => {
    const jobs = createJobEntities();
    jobs.put([a, b]);
    const batches: JobBatch[] = [];
    jobs.onBatch((batch) => batches.push(batch));
    const added = fakeSummary({ id: '/anna/c' });
    jobs.apply([{ ...a, state: 'FAILED' }, added], [b.id]);
    expect(batches).toHaveLength(1);
    expect(batches[0]?.changed).toEqual([{ before: a, after: { ...a, state: 'FAILED' } }]);
    expect(batches[0]?.unknown).toEqual([added]);
    expect(batches[0]?.removed).toEqual([b.id]);
    expect(jobs.get(added.id)).toBeUndefined();
    expect(jobs.get(b.id)).toBeUndefined();
  });

  it('gives no batch when nothing changed', () => {
    const jobs = createJobEntities();
    jobs.put([a]);
    const onBatch = vi.fn();
    jobs.onBatch(onBatch);
    jobs.apply([{ ...a }], []);
    expect(onBatch).not.toHaveBeenCalled();
  });

  it('keeps the end of a job that an answer read before it does not know of', () => {
    const jobs = createJobEntities();
    const running = fakeSummary({ id: '/anna/a', state: 'RUNNING' });
    const ended = { ...running, state: 'SUCCEEDED', finishedAtMs: running.submittedAtMs + 5000 } as const;
    jobs.put([running]);
    const onRow = vi.fn();
    jobs.apply([ended], []);
    jobs.listen(running.id, onRow);
    jobs.put([{ ...running }]);
    expect(jobs.get(running.id)).toEqual(ended);
    expect(onRow).not.toHaveBeenCalled();
    // Another job of that name, submitted since.
    const next = { ...running, submittedAtMs: running.submittedAtMs + 9000 };
    jobs.put([next]);
    expect(jobs.get(running.id)).toEqual(next);
  });

  it('forgets the oldest rows that nobody shows', () => {
    const jobs = createJobEntities(3);
    jobs.put([a]);
    jobs.listen(a.id, () => undefined);
    jobs.put([1, 2, 3, 4].map((number) => fakeSummary({ id: `/anna/x${number}` })));
    expect(jobs.size).toBe(3);
    expect(jobs.get(a.id)).toEqual(a);
    expect(jobs.get('/anna/x1')).toBeUndefined();
    expect(jobs.get('/anna/x4')).toBeDefined();
  });

  it('forgets last what was asked for last', () => {
    const jobs = createJobEntities(2);
    jobs.put([a, b]);
    jobs.put([{ ...a }]);
    jobs.put([fakeSummary({ id: '/anna/c' })]);
    expect(jobs.get(a.id)).toEqual(a);
    expect(jobs.get(b.id)).toBeUndefined();
  });
});
