import { afterEach, describe, expect, it } from 'vitest';
import type { ImagePull } from '../../core/contract/machines.js';
import { RefusalError } from '../../core/contract/errors.js';
import { runProgram } from '../../main/cli/program.js';
import { eventually } from '../harness/eventually.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost } from './fake-host.js';

const pull = (more: Partial<ImagePull> = {}): ImagePull => ({
  machineId: 'two',
  image: 'tool:1',
  state: 'PULLING',
  totalBytes: null,
  doneBytes: 0,
  layers: 0,
  layersDone: 0,
  message: null,
  startedAtMs: 5,
  ...more,
});

let host: FakeHost;
let made: TestContext;

/** Begins to pull and returns, once that is watched, what its end will be. */
async function begun() {
  host = await FakeHost.start({ 'image.pull': () => ({}) });
  const other = pull({ machineId: 'one', state: 'FAILED', message: 'Of another machine.' });
  host.images = { changes: 0, cacheChanges: 0, pulls: [pull(), other] };
  made = testContext(host.home, { json: false });
  const end = runProgram(made.context, ['image', 'pull', 'tool:1', '--machine', 'two']).catch(
    (error: unknown) => {
      if (!(error instanceof RefusalError)) throw error;
      return error.refusal;
    },
  );
  await eventually(() => host.watchers('images')).toBe(1);
  return { end };
}

const step = (more: Partial<ImagePull>) =>
  host.changeImages({ changes: 0, cacheChanges: 0, pulls: [pull(more)] });

afterEach(async () => {
  made.context.link.close();
  await host.dispose();
});

describe('image pull', () => {
  it('shows each step as it is told and ends with the fetch', async () => {
    const { end } = await begun();
    const further = { totalBytes: 8 * 1024 ** 2, doneBytes: 2 * 1024 ** 2, layers: 3, layersDone: 1 };
    step(further);
    step(further);
    step({ state: 'DONE' });
    expect(await end).toBe(0);
    expect(made.out().split('\n')).toEqual([
      'Pulling tool:1 to two: 0 B',
      'Pulling tool:1 to two: 2 MiB of 8 MiB, 1 of 3 layers',
      'tool:1 is on two.',
      '',
    ]);
    await eventually(() => host.watchers('images')).toBe(0);
  });

  it('tells why it failed, and when nobody knows of it any more', async () => {
    const first = await begun();
    step({ state: 'FAILED', message: 'There is no image tool:1 in its registry.' });
    expect(await first.end).toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: 'There is no image tool:1 in its registry.',
    });
    made.context.link.close();
    await host.dispose();
    const second = await begun();
    host.changeImages({ changes: 0, cacheChanges: 0, pulls: [] });
    expect(await second.end).toMatchObject({ code: 'NOT_FOUND' });
  });
});
