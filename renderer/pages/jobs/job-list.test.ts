import { describe, expect, it } from 'vitest';
import type { MethodName, MethodResult, Params } from '../../../core/contract/api.js';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { eventually } from '../../../test/harness/eventually.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { createHost } from '../../state/host.js';
import { createJobEntities } from '../../state/entities.js';
import { createJobList, mostSelected, movesRow, pageSize, type JobList, type ListQuery } from './job-list.js';

const wholeList: ListQuery = { filter: { rootsOnly: true }, sort: { key: 'submitted', descending: true } };

/** `j0` is the newest. */
function roots(count: number): JobSummary[] {
  return Array.from({ length: count }, (_item, index) =>
    fakeSummary({ id: `/anna/j${index}`, submittedAtMs: 1_000_000 - index * 10, state: 'SUCCEEDED' }),
  );
}

function setUp(rows: readonly JobSummary[], query = wholeList, kept: string | null = null) {
  const fake = new FakeHost({ jobs: rows, nowMs: 2_000_000 });
  const host = createHost({ connect: fake.bridge.connect });
  const jobs = createJobEntities();
  host.subscribe(
    'jobs',
    {},
    { snapshot: () => undefined, delta: (delta) => jobs.apply(delta.rows, delta.removed) },
  );
  let nowMs = 0;
  let timer: (() => void) | null = null;
  const waits: number[] = [];
  const list = createJobList({
    call: host.call,
    jobs,
    keepPageOf: () => kept,
    now: () => nowMs,
    setTimer: (run, ms) => {
      timer = run;
      waits.push(ms);
      return () => {
        timer = null;
      };
    },
  });
  list.attach();
  list.setQuery(query);
  return {
    fake,
    jobs,
    list,
    waits,
    hasTimer: () => timer !== null,
    runTimer(elapsedMs = 5000) {
      nowMs += elapsedMs;
      const run = timer;
      timer = null;
      run?.();
    },
    close: () => {
      host.close();
    },
  };
}

function ids(list: JobList, start: number, end: number): string[] {
  const structure = list.structure.get();
  return Array.from({ length: Math.min(end, structure.length) - start }, (_item, offset) => {
    const row = structure.rowAt(start + offset);
    return row.kind === 'job' ? row.id.slice('/anna/'.length) : row.kind;
  });
}

const total = (list: JobList) => eventually(() => list.structure.get().total);

describe('job list', () => {
  it('fetches the first page, then pages as they come into view, each once', async () => {
    const { list, fake, close } = setUp(roots(1000));
    await total(list).toBe(1000);
    expect(ids(list, 198, 202)).toEqual(['j198', 'j199', 'skeleton', 'skeleton']);
    list.show(590, 620);
    list.show(591, 621);
    await eventually(() => ids(list, 599, 601)).toEqual(['j599', 'j600']);
    expect(ids(list, 399, 401)).toEqual(['skeleton', 'j400']);
    expect(fake.callsOf('job.list').map((params) => params.offset)).toEqual([0, 400, 600]);
    close();
  });

  it('keeps the pages nearest to where it is, and fetches one it has forgotten again', async () => {
    const { list, fake, close } = setUp(roots(20_000));
    await total(list).toBe(20_000);
    const known = (line: number) => list.structure.get().rowAt(line).kind === 'job';
    for (let page = 1; page <= 64; page += 1) {
      list.show(page * pageSize + 80, page * pageSize + 119);
      await eventually(() => known(page * pageSize)).toBe(true);
    }
    expect([0, 4, 5, 64].map((page) => known(page * pageSize))).toEqual([false, false, true, true]);
    expect(list.structure.get().lineOf('/anna/j0')).toBe(-1);
    list.show(0, 39);
    await eventually(() => ids(list, 0, 1)).toEqual(['j0']);
    expect(fake.callsOf('job.list').filter((params) => params.offset === 0)).toHaveLength(2);
    close();
  });

  it('fetches the page that is near before it is seen', async () => {
    const { list, fake, close } = setUp(roots(1000));
    await total(list).toBe(1000);
    list.show(40, 80);
    list.show(90, 130);
    await eventually(() => ids(list, 199, 201)).toEqual(['j199', 'j200']);
    expect(fake.callsOf('job.list').map((params) => params.offset)).toEqual([0, 200]);
    close();
  });

  it('shows a new job after one throttled fetch of the rows in view, without losing the others', async () => {
    const { list, fake, runTimer, waits, close } = setUp(roots(1000));
    await total(list).toBe(1000);
    list.show(600, 640);
    await eventually(() => ids(list, 600, 602)).toEqual(['j600', 'j601']);
    const before = fake.callsOf('job.list').length;
    for (let count = 0; count < 30; count += 1) {
      fake.put(fakeSummary({ id: `/anna/new${count}`, submittedAtMs: 1_500_000 + count }));
      fake.publish();
    }
    expect(waits).toHaveLength(1);
    runTimer();
    await total(list).toBe(1030);
    await eventually(() => ids(list, 630, 632)).toEqual(['j600', 'j601']);
    expect(fake.callsOf('job.list').length).toBe(before + 1);
    expect(ids(list, 0, 2)).toEqual(['j0', 'j1']);
    list.show(0, 40);
    await eventually(() => ids(list, 0, 3)).toEqual(['new29', 'new28', 'new27']);
    close();
  });

  it('shows a new job whose time is before that of the others, as the clock was set back', async () => {
    const ahead = Date.now() + 3_600_000;
    const rows = roots(3).map((row, index) => ({ ...row, submittedAtMs: ahead - index }));
    const { fake, list, hasTimer, runTimer, close } = setUp(rows);
    await eventually(() => list.structure.get().total).toBe(3);
    fake.put(fakeSummary({ id: '/anna/new', submittedAtMs: Date.now() }));
    fake.publish();
    await eventually(hasTimer).toBe(true);
    runTimer();
    await eventually(() => list.structure.get().total).toBe(4);
    close();
  });

  it('never has a job twice when rows move between pages', async () => {
    const { list, fake, runTimer, close } = setUp(roots(450));
    await total(list).toBe(450);
    list.show(190, 230);
    await eventually(() => ids(list, 199, 201)).toEqual(['j199', 'j200']);
    list.show(10, 50);
    fake.remove('/anna/j5');
    fake.publish();
    runTimer();
    await total(list).toBe(449);
    // j200 is now the last of the first page; the second one, not fetched anew yet, had it as its first.
    const seen = ids(list, 0, 449).filter((id) => id !== 'skeleton');
    expect(seen).toContain('j200');
    expect(new Set(seen).size).toBe(seen.length);
    list.show(190, 230);
    await eventually(() => ids(list, 198, 203)).toEqual(['j199', 'j200', 'j201', 'j202', 'j203']);
    close();
  });

  it('waits a second between two fetches caused by changes', async () => {
    const { list, fake, runTimer, waits, close } = setUp(roots(5));
    await total(list).toBe(5);
    fake.put(fakeSummary({ id: '/anna/n1', submittedAtMs: 1_500_001 }));
    fake.publish();
    runTimer(100_000);
    await total(list).toBe(6);
    fake.put(fakeSummary({ id: '/anna/n2', submittedAtMs: 1_500_002 }));
    fake.publish();
    expect(waits).toEqual([120, 1000]);
    close();
  });

  it('fetches nothing for changes that can neither bring a row in nor move one', async () => {
    const { list, fake, hasTimer, jobs, close } = setUp(roots(1000));
    await total(list).toBe(1000);
    fake.change('/anna/j3', { state: 'RUNNING' });
    // Not loaded: it is further down, and a change of state does not move it in an order by submission.
    fake.change('/anna/j900', { state: 'RUNNING' });
    fake.put(fakeSummary({ id: '/anna/j3/child', submittedAtMs: 1_500_000 }));
    fake.publish();
    expect(jobs.get('/anna/j3')?.state).toBe('RUNNING');
    expect(hasTimer()).toBe(false);
    close();
  });

  it('drops rows that no longer match and answers of an older query', async () => {
    const running: ListQuery = { ...wholeList, filter: { rootsOnly: true, states: ['RUNNING'] } };
    const rows = roots(4).map((row, index) => (index < 2 ? { ...row, state: 'RUNNING' as const } : row));
    const { list, fake, runTimer, close } = setUp(rows);
    list.setQuery(running);
    await total(list).toBe(2);
    expect(ids(list, 0, 2)).toEqual(['j0', 'j1']);
    fake.change('/anna/j0', { state: 'FAILED' });
    fake.publish();
    runTimer();
    await total(list).toBe(1);
    expect(ids(list, 0, 1)).toEqual(['j1']);
    fake.remove('/anna/j1');
    fake.publish();
    runTimer();
    await total(list).toBe(0);
    fake.put(fakeSummary({ id: '/anna/late', submittedAtMs: 1_500_000 }));
    fake.publish();
    runTimer();
    await total(list).toBe(1);
    close();
  });

  it('opens children, keeps them open over a fetch, and fetches them again when one is added', async () => {
    const rows = roots(3).map((row, index) => (index === 1 ? { ...row, childCount: 2 } : row));
    const children = [0, 1].map((index) =>
      fakeSummary({ id: `/anna/j1/c${index}`, submittedAtMs: 1_400_000 + index }),
    );
    const { list, fake, runTimer, close } = setUp([...rows, ...children]);
    await total(list).toBe(3);
    list.toggle('/anna/j1');
    expect(ids(list, 0, 9)).toEqual(['j0', 'j1', 'skeleton', 'j2']);
    await eventually(() => ids(list, 0, 9)).toEqual(['j0', 'j1', 'j1/c0', 'j1/c1', 'j2']);
    fake.put(fakeSummary({ id: '/anna/j1/c2', submittedAtMs: 1_400_002 }));
    fake.put(fakeSummary({ id: '/anna/new', submittedAtMs: 1_500_000 }));
    fake.publish();
    runTimer();
    await eventually(() => ids(list, 0, 9)).toEqual(['new', 'j0', 'j1', 'j1/c0', 'j1/c1', 'j1/c2', 'j2']);
    list.toggle('/anna/j1');
    expect(ids(list, 0, 9)).toEqual(['new', 'j0', 'j1', 'j2']);
    close();
  });

  it('fetches more children page by page', async () => {
    const parent = fakeSummary({ id: '/anna/p', childCount: 450 });
    const children = Array.from({ length: 450 }, (_item, index) =>
      fakeSummary({ id: `/anna/p/c${index}`, submittedAtMs: 1_000_000 + index }),
    );
    const { list, close } = setUp([parent, ...children]);
    await total(list).toBe(1);
    list.toggle('/anna/p');
    await eventually(() => list.structure.get().length).toBe(1 + pageSize + 1);
    expect(list.structure.get().rowAt(1 + pageSize)).toMatchObject({ kind: 'more', remaining: 250 });
    list.moreChildren('/anna/p');
    await eventually(() => list.structure.get().length).toBe(1 + 2 * pageSize + 1);
    list.moreChildren('/anna/p');
    await eventually(() => list.structure.get().length).toBe(451);
    expect(ids(list, 450, 451)).toEqual(['p/c449']);
    close();
  });

  it('keeps what it shows when a later fetch fails, says why, and recovers', async () => {
    const { list, fake, runTimer, close } = setUp(roots(3));
    await total(list).toBe(3);
    fake.refuseNext('job.list', refusal('STORAGE_FAILED', 'The disk is full.'));
    fake.put(fakeSummary({ id: '/anna/new', submittedAtMs: 1_500_000 }));
    fake.publish();
    runTimer();
    await eventually(() => list.structure.get().error?.message).toBe('The disk is full.');
    expect(ids(list, 0, 3)).toEqual(['j0', 'j1', 'j2']);
    list.refresh();
    await total(list).toBe(4);
    expect(list.structure.get().error).toBeNull();
    close();
  });

  it('gives the error alone when the first fetch fails', async () => {
    const call = <M extends MethodName>(_method: M, _params: Params<M>): Promise<MethodResult<M>> =>
      Promise.reject(new RefusalError(refusal('UNAVAILABLE', 'No controller.')));
    const list = createJobList({ call, jobs: createJobEntities() });
    list.attach();
    list.setQuery(wholeList);
    await eventually(() => list.structure.get().error?.code).toBe('UNAVAILABLE');
    expect(list.structure.get().total).toBeNull();
  });

  it('gives every id of the query in order', async () => {
    const { list, close } = setUp(roots(1203));
    await total(list).toBe(1203);
    const all = await list.allIds();
    expect(all).toHaveLength(1203);
    expect(all[0]).toBe('/anna/j0');
    expect(all[1202]).toBe('/anna/j1202');
    close();
  });

  it('gives the ids from one job to another, over rows it never loaded, and keeps the page a range begins in', async () => {
    const count = 90 * pageSize;
    const { list, close } = setUp(roots(count), wholeList, '/anna/j3');
    await total(list).toBe(count);
    const see = async (page: number) => {
      list.show(page * pageSize, page * pageSize + 20);
      await eventually(() => list.structure.get().rowAt(page * pageSize).kind).toBe('job');
    };
    await see(30);
    expect(list.structure.get().rowAt(20 * pageSize).kind).toBe('skeleton');
    const end = 30 * pageSize + 5;
    const between = await list.idsBetween('/anna/j3', `/anna/j${end}`);
    expect(between).toHaveLength(end - 3 + 1);
    expect([between[0], between.at(-1)]).toEqual(['/anna/j3', `/anna/j${end}`]);
    expect(await list.idsBetween(`/anna/j${end}`, '/anna/j3')).toEqual(between);
    for (let page = 2; page < 80; page += 1) await see(page);
    expect(list.structure.get().rowAt(2 * pageSize + 1).kind).toBe('skeleton');
    expect(list.structure.get().lineOf('/anna/j3')).toBe(3);
    expect(await list.idsBetween('/anna/j3', `/anna/j${79 * pageSize}`)).toHaveLength(mostSelected);
    close();
  });
});

describe('movesRow', () => {
  const before = fakeSummary({ id: '/anna/a', state: 'RUNNING' });
  const after: JobSummary = { ...before, state: 'FAILED', finishedAtMs: 5 };
  it.each([
    ['submitted', false],
    ['name', false],
    ['state', true],
    ['finished', true],
    ['duration', true],
  ] as const)('by %s: %s', (key, moves) => {
    expect(movesRow({ filter: {}, sort: { key, descending: true } }, before, after)).toBe(moves);
  });

  it('a state filter lets a row in or out', () => {
    const query = (states: JobSummary['state'][]): ListQuery => ({ ...wholeList, filter: { states } });
    expect(movesRow(query(['RUNNING']), before, after)).toBe(true);
    expect(movesRow(query(['FAILED']), before, after)).toBe(true);
    expect(movesRow(query(['RUNNING', 'FAILED']), before, after)).toBe(false);
    expect(movesRow(query(['KILLED']), before, after)).toBe(false);
  });
});
