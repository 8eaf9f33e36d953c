import { afterEach, expect, it } from 'vitest';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { MachineCaches } from '../../core/contract/caches.js';
import { runProgram } from '../../main/cli/program.js';
import { fakeCachesOf, fakeSizes } from '../harness/fake-caches.js';
import { fakeMachine } from '../harness/fake-data.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';

const gib = 1024 ** 3;
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
    const code = await runProgram(made.context, ['docker', 'caches', ...words]);
    return { code, out: made.out(), refused: null };
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return { code: -1, out: made.out(), refused: error.refusal };
  }
}
const params = (method: string) =>
  host.calls.filter((call) => call.method === method).map((call) => call.params);

const measured = (machineId: string, more: Partial<MachineCaches> = {}) =>
  fakeCachesOf(machineId, {
    state: 'MEASURED',
    folder: '/home/ann/caches',
    measuredAtMs: Date.UTC(2026, 11, 1, 5),
    caches: fakeSizes({ uv: 3 * gib, hf: 40 * gib }),
    ...more,
  });
const lab = (...found: MachineCaches[]): Answers => ({
  'cache.list': () => ({ machines: found.map(({ machineId }) => fakeCachesOf(machineId)) }),
  'cache.measure': (asked) => {
    const { machineId } = asked;
    return found.find((one) => one.machineId === machineId) ?? measured(machineId);
  },
});

it('measures those of every machine, and says of one that could not be looked at why', async () => {
  const message = 'The caches on two could not be looked at: two is not connected.';
  const left = { bytes: gib, message: '1 GiB of what was emptied could not be removed: sudo rm -rf /x' };
  const { code, out } = await run(
    [],
    lab(measured('one', { left }), fakeCachesOf('two', { state: 'FAILED', message })),
  );
  expect(code).toBe(0);
  expect(out.replace(/measured .*/, 'measured T')).toBe(
    [
      'one: 43 GiB in /home/ann/caches, measured T',
      'CACHE  IN CONTAINERS    SIZE',
      'uv     /uv/cache       3 GiB',
      'hf     /hf/cache      40 GiB',
      'cargo  /cargo            0 B',
      'cache  /cache            0 B',
      `one: ${left.message}`,
      '',
      message,
      '',
    ].join('\n'),
  );
});

it('of one machine and some caches asks nobody else, and is refused where nothing was found', async () => {
  const failed = fakeCachesOf('two', { state: 'FAILED', message: 'It does not answer.' });
  const { code } = await run(['hf', '--machine', 'two'], lab(measured('one'), failed));
  expect(code).toBe(125);
  expect(params('cache.measure')).toEqual([{ machineId: 'two' }]);
});

it('says where no machine runs containers', async () => {
  const { code, out } = await run([], lab());
  expect([code, out]).toEqual([125, 'No machine runs containers: irisctl docker check says why.\n']);
});

it('gives all of it as JSON', async () => {
  const { out } = await run([], lab(measured('one')), true);
  expect(JSON.parse(out)).toEqual({ machines: [measured('one')] });
});

const machines = (...ids: string[]): Answers => ({
  'machine.list': () => ({ machines: ids.map((id) => fakeMachine(0, { id })) }),
});

it('empties all of the only machine, or those that are named of one that is', async () => {
  const after = measured('one', { caches: fakeSizes({}), removing: true });
  const { code, out } = await run(['--empty'], { ...machines('one'), 'cache.empty': () => after });
  expect([code, out]).toEqual([
    0,
    'Emptied on one: uv, hf, cargo, cache. What was in them is being removed.\n',
  ]);
  expect(params('cache.empty')).toMatchObject([{ machineId: 'one', names: ['uv', 'hf', 'cargo', 'cache'] }]);
  made.context.link.close();
  await host.dispose();
  const note = 'It is a symbolic link.';
  const caches = fakeSizes({}).map((one) => (one.name === 'hf' ? { ...one, note } : one));
  const named = await run(['uv', 'hf', '--empty', '--machine', 'two'], {
    'cache.empty': () => measured('two', { caches }),
  });
  expect([named.code, named.out]).toEqual([125, `Emptied on two: uv.\nNot emptied: hf. ${note}\n`]);
});

it('empties nothing of several machines, of a cache there is not, or while one runs', async () => {
  const several = await run(['--empty'], machines('one', 'two'));
  expect(several.refused?.message).toContain('name one with --machine');
  expect(params('cache.empty')).toEqual([]);
  made.context.link.close();
  await host.dispose();
  const unknown = await run(['pip', '--empty'], machines('one'));
  expect(unknown.refused?.fields[0]).toMatchObject({ value: 'pip', expected: 'one of uv, hf, cargo, cache' });
  made.context.link.close();
  await host.dispose();
  const busy = refusal('FAILED_PRECONDITION', '/ann/train/0 runs in a container on one.');
  const refused = await run(['--empty'], {
    ...machines('one'),
    'cache.empty': () => {
      throw new RefusalError(busy);
    },
  });
  expect(refused.refused).toEqual(busy);
});
