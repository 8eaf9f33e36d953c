/** Fetches of images from a registry, or by an Engine, that is reached and gives no answer. */
import { once } from 'node:events';
import type http from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeEngine } from '../../../../test/harness/fake-engine.js';
import { noCaches } from '../../../../test/harness/fake-caches.js';
import { Engine, EngineUnreachable } from './engine.js';
import { Images, PullFailed } from './images.js';

const image = 'torch:1';
let fake: FakeEngine;
let engine: Engine;
let images: Images;
/** Of the question for the image. */
let pulling: Promise<http.ServerResponse>;

beforeEach(async () => {
  // What is silent for too long has been asked before: that time passes when a test says so.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  fake = await FakeEngine.start();
  engine = new Engine({
    find: () => ({ ok: true, endpoint: { kind: 'socket', path: fake.socket }, from: 'the test' }),
    onState: () => undefined,
    probeCallMs: 2000,
  });
  const home = fake.folder;
  const more = { workerId: 'here', owner: 'us', nowMs: () => 1, environment: {}, home };
  images = new Images({ engine, ...more, silentMs: 100 }, noCaches);
  await engine.probe();
});
afterEach(async () => {
  vi.useRealTimers();
  images.close();
  engine.close();
  await fake.stop();
});

function pulls(answer: (response: http.ServerResponse) => void): void {
  pulling = new Promise((resolve) => {
    fake.instead.set('POST images', (_, response) => {
      answer(response);
      resolve(response);
    });
  });
}

/** Once it was asked for and the time has passed. */
async function outcome(): Promise<unknown> {
  const outcome = images.fetch(image).catch((error: unknown) => error);
  await pulling;
  vi.advanceTimersByTime(100);
  return outcome;
}

test.each([
  ['nothing from the start', () => undefined],
  ['nothing more', (response: http.ServerResponse) => response.write('{"status":"Pulling"}\n')],
])('of a registry that sends %s fail, and the Engine is told to end them', async (_, answer) => {
  pulls(answer);
  const failed = await outcome();
  expect(failed).toBeInstanceOf(PullFailed);
  expect(failed).toMatchObject({ why: { code: 'REGISTRY_UNREACHABLE' }, noSpace: false, trouble: 'PASSING' });
  expect((failed as PullFailed).why.message).toContain('it sent nothing for');
  expect(images.pulls()).toMatchObject([{ image, state: 'FAILED' }]);
  const response = await pulling;
  if (!response.destroyed) await once(response, 'close');
});

test('of an Engine that answers nobody say nothing of the image', async () => {
  pulls(() => undefined);
  fake.instead.set('GET info', (_, response) => response.destroy());
  const failed = await outcome();
  expect(failed).toBeInstanceOf(EngineUnreachable);
  expect(images.pulls()[0]?.message).toContain('the Docker Engine was lost meanwhile');
});
