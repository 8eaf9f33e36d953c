import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../contract/job-request.js';
import { parseJobRequest } from '../contract/job-request.js';
import { submit } from './submit.js';
import { World } from './test-world.js';

function asked(request: Partial<JobRequest>, mayManage: boolean | undefined) {
  const parsed = parseJobRequest({ command: ['true'], workingDirectory: '/w', image: 'a:1', ...request });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  const world = new World();
  return world.step((draft) =>
    submit(draft, {
      spec: parsed.value,
      user: 'bob',
      submittedBy: 'bob',
      nowMs: world.nowMs,
      suffix: 'abc123',
      retryOf: null,
      mayManage,
    }),
  );
}

describe('container profiles', () => {
  test.each(['docker-access', 'privileged'])('%s is for who administers', (containerProfile) => {
    for (const mayManage of [false, undefined]) {
      expect(asked({ containerProfile }, mayManage)).toMatchObject({
        ok: false,
        refusal: {
          code: 'PERMISSION_DENIED',
          fields: [{ field: 'containerProfile', value: containerProfile }],
        },
      });
    }
    expect(asked({ containerProfile }, true).ok).toBe(true);
  });

  test.each(['default', 'restricted', 'gvisor'])('%s is for everybody', (containerProfile) => {
    expect(asked({ containerProfile }, false).ok).toBe(true);
  });
});
