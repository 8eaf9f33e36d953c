import { describe, expect, it } from 'vitest';
import { eventually } from '../../test/harness/eventually.js';
import { FakeHost } from '../../test/harness/fake-host.js';
import { refusal } from '../../core/contract/errors.js';
import { fakeSummary } from '../../test/harness/fake-data.js';
import { createHost, type TopicListener } from './host.js';
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

  it.each([
    ['UNAVAILABLE', 'live'],
    ['NOT_FOUND', 'ended'],
  ] as const)('after its end with %s is %s', (code, kind) => {
    let told: TopicListener<'job'> | null = null;
    const shared = createTopicHub({
      subscribe: (_topic, _filter, listener) => {
        told = listener as unknown as TopicListener<'job'>;
        return () => undefined;
      },
    }).shared('job', { jobId: '/anna/train' });
    shared.subscribe(() => undefined);
    const listener = told as TopicListener<'job'> | null;
    listener?.snapshot({ summary: fakeSummary({ id: '/anna/train' }), tasks: [] });
    listener?.ended?.(refusal(code, 'The controller is stopping.'));
    expect(shared.get().kind).toBe(kind);
    // It did not leave: what is shown is old.
    listener?.ended?.(refusal(code, 'Reading jobs took longer than 10000 ms.'));
    expect(shared.get().kind).toBe('ended');
    listener?.snapshot({ summary: fakeSummary({ id: '/anna/train' }), tasks: [] });
    listener?.ended?.(refusal(code, 'The controller is stopping.'));
    expect(shared.get().kind).toBe(kind);
  });
});
