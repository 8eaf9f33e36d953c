/** Cards as somebody has set them: divided, or kept from computing. */
import { afterEach, expect, test, vi } from 'vitest';
import { eventually } from '../../test/harness/eventually.js';
import { capture, NvidiaStub } from '../../test/harness/nvidia-stub.js';
import { onlyCard, readerOf } from '../../test/harness/stub-reader.js';
import { createGpuReader, type GpuReader, type GpuReaderOptions, type GpuReading } from './gpus.js';
import { KernelLog } from './kernel-log.js';

const nobody = () => null;
const first = 'GPU-a0000001-0000-4000-8000-000000000001';

let stub: NvidiaStub;
let reader: GpuReader;

afterEach(() => {
  vi.useRealTimers();
  reader.close?.();
  stub.dispose();
});

function open(name: string, more: Partial<GpuReaderOptions> = {}): void {
  stub = new NvidiaStub(name);
  reader = readerOf(stub, more);
}

const only = () => onlyCard(reader);
const states = ({ gpus }: GpuReading) => gpus.map(({ state }) => state);

test('while their names cannot be asked for, slices go by no other', async () => {
  open('a100-mig-four-instances.xml', { timeoutMs: 300 });
  const uuids = [3, 4, 5, 6].map((id) => `MIG-b000000${id}-0000-5000-8000-000000000000`);
  const lines = uuids.map((uuid, at) => `  MIG 1g.20gb     Device  ${at}: (UUID: ${uuid})\n`);
  stub.put('list', `GPU 0: NVIDIA A100-SXM4-80GB (UUID: ${first})\n${lines.join('')}`);
  stub.hangAt('list', true);
  // Its time passes once it was asked for them, not while it starts.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const reading = reader.read(nobody);
  await eventually(() => stub.calls()).toContain('-L');
  vi.advanceTimersByTime(300);
  const { gpus, note } = await reading;
  vi.useRealTimers();
  expect(note).toBe('nvidia-smi did not answer within 0.3 s');
  expect(gpus.map(({ state }) => state)).toEqual(['SILENT', 'SILENT', 'SILENT', 'SILENT']);
  stub.hangAt('list', false);
  await eventually(async () => states(await reader.read(nobody))[0]).toBe('FREE');
  expect((await reader.read(nobody)).gpus.map(({ uuid }) => uuid)).toEqual(uuids);
});

test('a card on which nothing may compute is given to nobody and says what to do', async () => {
  open('a10g-compute-process.xml');
  const text = capture('a10g-compute-process.xml');
  expect(text).toContain('<compute_mode>Default<');
  stub.show(text.replace('<compute_mode>Default<', '<compute_mode>Prohibited<'));
  expect(await only()).toMatchObject({
    state: 'SICK',
    stateReason: expect.stringContaining('nvidia-smi -c 0'),
  });
  stub.show(text);
  expect((await only()).state).toBe('BUSY');
});

test('a divided card without slices is given to nobody and says what to do', async () => {
  open('a100-mig-four-instances.xml');
  stub.show(capture('a100-mig-four-instances.xml').replace(/<mig_devices>[\s\S]*<\/mig_devices>/, ''));
  expect(await only()).toMatchObject({ state: 'SICK', stateReason: expect.stringContaining('mig -cgi') });
});

test('of a divided card that is lost each slice is', async () => {
  open('a100-mig-four-instances.xml');
  const before = await reader.read(nobody);
  stub.lose('00000000:01:00.0');
  const { gpus, lost } = await reader.read(nobody);
  const uuids = before.gpus.map(({ uuid }) => uuid);
  expect(gpus.map(({ uuid }) => uuid)).toEqual(uuids);
  expect(gpus.map(({ state, memoryUsedBytes }) => [state, memoryUsedBytes])).toEqual(
    uuids.map(() => ['SICK', null]),
  );
  expect(lost).toEqual(new Set(uuids));
});

test('while a card is lost and the list tells of nothing else, slices of the others keep their names', async () => {
  open('a100-mig-four-instances.xml');
  const one = capture('a100-mig-four-instances.xml');
  const second = first.replaceAll('1', '2');
  const [card = ''] = /<gpu id=[\s\S]*<\/gpu>/.exec(one) ?? [];
  const other = card.replaceAll('00000000:01:00.0', '00000000:02:00.0').replaceAll(first, second);
  stub.show(one.replace(card, `${card}\n${other}`));
  const sliceOf = (of: number, at: number) => `MIG-c000000${of}-000${at}-5000-8000-000000000000`;
  const listOf = (uuid: string, of: number) =>
    `GPU ${of}: NVIDIA A100-SXM4-80GB (UUID: ${uuid})\n` +
    [0, 1, 2, 3].map((at) => `  MIG 1g.20gb     Device  ${at}: (UUID: ${sliceOf(of, at)})\n`).join('');
  stub.put('list', listOf(first, 0) + listOf(second, 1));
  const names = [0, 1].flatMap((of) => [0, 1, 2, 3].map((at) => sliceOf(of, at)));
  const before = await reader.read(nobody);
  expect(before.gpus.map(({ uuid }) => uuid)).toEqual(names);
  stub.lose('00000000:01:00.0');
  stub.put('list', stub.answer('all'));
  const { gpus, lost } = await reader.read(nobody);
  expect(gpus.map(({ uuid }) => uuid)).toEqual(names);
  expect(lost).toEqual(new Set(names.slice(0, 4)));
  expect(gpus.slice(4).map(({ state }) => state)).toEqual(['FREE', 'FREE', 'FREE', 'FREE']);
  reader.close?.();
  // One who never heard their names gives out none.
  reader = createGpuReader({
    nowMs: () => Date.now(),
    command: stub.command,
    kernelLog: new KernelLog('/nowhere'),
  });
  stub.putCard('0', stub.answer('all'));
  stub.putCard('1', one.replace(card, other));
  expect(new Set(states(await reader.read(nobody)))).toEqual(new Set(['SILENT']));
});

test('one that has to wake its cards first is let go on, is asked once, and what it says late counts', async () => {
  let late = 0;
  const onLate = () => {
    late += 1;
  };
  open('rtx-3060-driver-570.xml', { timeoutMs: 300, onLate });
  stub.put('slow', '');
  // Its time passes once it was asked, not while it starts.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const reading = reader.read(nobody);
  await eventually(() => stub.calls()).toEqual(['-q -x']);
  vi.advanceTimersByTime(300);
  expect((await reading).note).toBe('nvidia-smi did not answer within 0.3 s');
  expect((await reader.read(nobody)).note).toContain('it is not asked again before it ends');
  stub.take('slow');
  await eventually(() => late).toBe(1);
  vi.useRealTimers();
  const { gpus, note } = await reader.read(nobody);
  expect(note).toBeNull();
  expect(gpus.map(({ state }) => state)).toEqual(['FREE']);
  expect(stub.calls().filter((call) => call === '-q -x')).toHaveLength(1);
});
