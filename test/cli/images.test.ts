import { afterEach, expect, it } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import type { ImageView, MachineView } from '../../core/contract/machines.js';
import { runProgram } from '../../main/cli/program.js';
import { fakeMachine } from '../harness/fake-data.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';

let host: FakeHost;
let made: TestContext;

afterEach(async () => {
  made.context.link.close();
  await host.dispose();
});

async function run(words: readonly string[], answers: Answers, json = false) {
  host = await FakeHost.start(answers);
  made = testContext(host.home, { json });
  try {
    const code = await runProgram(made.context, ['image', ...words]);
    return { code, out: made.out(), refused: null };
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return { code: -1, out: made.out(), refused: error.refusal };
  }
}

const docker = { state: 'READY', version: '28.0.0', gpus: false, message: null } as const;
const ready = (id: string) => fakeMachine(5, { id, docker });
const silent = (id: string) =>
  fakeMachine(5, {
    id,
    docker: { ...docker, state: 'FAILED', message: 'Docker does not answer. Start it.' },
  });
const image: ImageView = {
  machineId: 'one',
  id: 'sha256:0123456789abcdef',
  names: ['tool:1'],
  sizeBytes: 5 * 1024 ** 2,
  createdAtMs: 5,
  inUse: 0,
};
const lab = (machines: readonly MachineView[], ...images: ImageView[]): Answers => ({
  'machine.list': () => ({ machines: [...machines] }),
  'image.list': () => ({ images, pulls: [] }),
  'image.remove': () => ({}),
  'image.cancel': () => ({}),
});

it.each([
  ['none where an Engine says so', [ready('one')], 'No images.\n'],
  [
    'why it is not known where no Engine answers',
    [silent('one')],
    'one: Docker does not answer. Start it.\n',
  ],
  [
    'both of a lab that has both',
    [ready('one'), silent('two')],
    'No images.\ntwo: Docker does not answer. Start it.\n',
  ],
])('lists %s', async (_, machines, text) => {
  expect(await run(['list'], lab(machines))).toMatchObject({ code: 0, out: text });
});

it('lists what there is, and which machine cannot tell', async () => {
  const { out } = await run(['list'], lab([ready('one'), silent('two')], image));
  expect(out).toMatch(/one +tool:1 +0123456789ab +5 MiB .*\ntwo: Docker does not answer\. Start it\.\n$/);
});

it('removes an image by a name of it, and tells a program which', async () => {
  const { code, out } = await run(['remove', 'tool:1', '--machine', 'one'], lab([ready('one')], image), true);
  expect([code, JSON.parse(out)]).toEqual([0, { machineId: 'one', imageId: image.id }]);
});

it('does not say that an image is not there where no Engine answers', async () => {
  const { refused } = await run(['remove', 'tool:1', '--machine', 'two'], lab([silent('two')], image));
  expect(refused).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: 'two: Docker does not answer. Start it.',
  });
  made.context.link.close();
  await host.dispose();
  const other = await run(['remove', 'tool:1', '--machine', 'two'], lab([ready('two')], image));
  expect(other.refused).toMatchObject({ code: 'NOT_FOUND', message: 'There is no image tool:1 on two.' });
});

it('says that a pull was ended', async () => {
  const { code, out } = await run(['pull', 'tool:1', '--machine', 'one', '--cancel'], lab([ready('one')]));
  expect([code, out]).toEqual([0, 'The pull of tool:1 to one was ended.\n']);
});
