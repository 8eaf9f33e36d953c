import { expect, test } from 'vitest';
import { emptiedCaches } from './machine-change.js';
import { World } from './test-world.js';

test('an emptying of caches is an audit row of the machine, for who administers the cluster alone', () => {
  const world = new World();
  const emptied = { machineId: 'w1', names: ['uv', 'hf'], bytes: 4096, actor: 'owner', nowMs: 5 } as const;
  const refused = world.step((draft) => emptiedCaches(draft, { ...emptied, mayManage: false }));
  expect(refused).toMatchObject({ ok: false, refusal: { code: 'PERMISSION_DENIED' } });
  world.step((draft) => emptiedCaches(draft, { ...emptied, mayManage: true }));
  const rows = world.changes.flatMap((each) => each.audit).filter(({ entity }) => entity === 'machine/w1');
  expect(rows).toMatchObject([
    { actor: 'owner', action: 'caches_emptied', detail: { emptied: ['uv', 'hf'], bytes: 4096 } },
  ]);
});
