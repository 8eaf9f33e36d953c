import { describe, expect, it } from 'vitest';
import { eventually } from '../../test/harness/eventually.js';
import { FakeHost } from '../../test/harness/fake-host.js';
import { createHost } from './host.js';
import { createTopicHub } from './topic-hub.js';

describe('topic hub', () => {
  it('subscribes once for many listeners, folds deltas, and leaves with the last one', async () => {
    const fake = new FakeHost({ jobs: 12 });
    const host = createHost({ connect: fake.bridge.connect });
    const hub = createTopicHub(host);
    const shared = hub.shared('job', { jobId: '/anna/eval-mmlu' });
    expect(hub.shared('job', { jobId: '/anna/eval-mmlu' })).toBe(shared);
    const stops = [shared.subscribe(() => undefined), shared.subscribe(() => undefined)];
    await eventually(() => shared.get().kind).toBe('live');
    expect(fake.subscriptionsOf('job')).toBe(1);

    fake.change('/anna/eval-mmlu', { state: 'FAILED' });
    fake.publish();
    const state = shared.get();
    expect(state.kind === 'live' ? state.value.summary.state : null).toBe('FAILED');
    expect(state.kind === 'live' ? state.value.tasks.length : null).toBe(1);

    stops[0]?.();
    expect(fake.subscriptionsOf('job')).toBe(1);
    stops[1]?.();
    expect(fake.subscriptionsOf('job')).toBe(0);
    expect(shared.get().kind).toBe('loading');
    host.close();
  });

  it('says when the controller ended the topic', async () => {
    const fake = new FakeHost({ jobs: 0 });
    const host = createHost({ connect: fake.bridge.connect });
    const shared = createTopicHub(host).shared('job', { jobId: '/anna/gone' });
    shared.subscribe(() => undefined);
    await eventually(() => shared.get()).toMatchObject({ kind: 'ended', refusal: { code: 'NOT_FOUND' } });
    host.close();
  });
});
