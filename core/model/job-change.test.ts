import { describe, expect, test } from 'vitest';
import type { JobChange } from '../contract/queue.js';
import { changeJob } from './job-change.js';
import { World } from './test-world.js';

function change(world: World, jobId: string, asked: JobChange, actor = 'ann', mayManage = false) {
  return world.step((draft) =>
    changeJob(draft, {
      jobId,
      change: asked,
      actor,
      mayManage,
      nowMs: world.nowMs,
      ranks: (job) =>
        [...world.jobs.values()]
          .filter((other) => other.user === job.user && other.band === job.band && other.id !== job.id)
          .map(({ rank }) => rank),
    }),
  );
}

function audited(world: World): unknown[] {
  return world.changes
    .flatMap((changes) => changes.audit)
    .filter(({ action }) => action === 'job_changed')
    .map(({ actor, entity, detail }) => [actor, entity, detail]);
}

describe('hold and release', () => {
  test('with a trace, and none when nothing changes', () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    expect(change(world, id, { kind: 'hold' }).ok).toBe(true);
    expect(world.state.job(id)?.held).toBe(true);
    change(world, id, { kind: 'hold' });
    change(world, id, { kind: 'release' });
    expect(world.state.job(id)?.held).toBe(false);
    expect(audited(world)).toEqual([
      ['ann', id, { held: true }],
      ['ann', id, { held: false }],
    ]);
  });

  test('by others only with the right to administer', () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    expect(change(world, id, { kind: 'hold' }, 'bob')).toMatchObject({
      ok: false,
      refusal: { code: 'PERMISSION_DENIED', message: '/ann/a belongs to ann, not to bob.' },
    });
    expect(change(world, id, { kind: 'hold' }, 'bob', true).ok).toBe(true);
  });

  test('not of what is over, and not of what is not there', () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    world.cancel(id);
    expect(change(world, id, { kind: 'hold' })).toMatchObject({
      refusal: {
        code: 'FAILED_PRECONDITION',
        message: '/ann/a has ended already (it was stopped); it waits for nothing.',
      },
    });
    expect(change(world, '/ann/none', { kind: 'hold' })).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
  });
});

describe('band', () => {
  test('needs the right of who is charged, whoever asks', () => {
    const world = new World();
    const id = world.submit({ name: 'a' }, { user: 'bob', submittedBy: 'bob' });
    const raised = change(world, id, { kind: 'band', band: 'PRODUCTION' }, 'ann', true);
    expect(raised).toMatchObject({ ok: false, refusal: { code: 'PERMISSION_DENIED' } });
    world.setBudget('bob', { allow: ['PRODUCTION'] });
    expect(change(world, id, { kind: 'band', band: 'PRODUCTION' }, 'bob').ok).toBe(true);
    expect(world.state.job(id)?.band).toBe('PRODUCTION');
  });

  test('goes down the tree to who inherited it', () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    const heir = world.submit({ name: 'heir', parent: id });
    const own = world.submit({ name: 'own', parent: id, priority: 'interactive' });
    change(world, id, { kind: 'band', band: 'BATCH' });
    expect([id, heir, own].map((each) => world.state.job(each)?.band)).toEqual([
      'BATCH',
      'BATCH',
      'INTERACTIVE',
    ]);
  });
});

describe('place among own jobs', () => {
  test('first is before all others, last behind, usual by age', () => {
    const world = new World();
    const [a = '', b = '', c = ''] = ['a', 'b', 'c'].map((name) => world.submit({ name }));
    change(world, b, { kind: 'move', to: 'first' });
    change(world, c, { kind: 'move', to: 'first' });
    change(world, a, { kind: 'move', to: 'last' });
    expect([a, b, c].map((id) => world.state.job(id)?.rank)).toEqual([1, -1, -2]);
    change(world, c, { kind: 'move', to: 'usual' });
    expect(world.state.job(c)?.rank).toBe(0);
  });
});
