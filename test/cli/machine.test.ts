import { afterEach, describe, expect, it } from 'vitest';
import type { MachineCheck, MachineView } from '../../core/contract/machines.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { runProgram } from '../../main/cli/program.js';
import { fakeMachine } from '../harness/fake-data.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';

let host: FakeHost;
const contexts: TestContext[] = [];

const one = fakeMachine(0, { id: 'one', gpus: [], gpuNote: 'nvidia-smi is not installed' });
const two: MachineView = fakeMachine(0, {
  id: 'two',
  address: 'ssh://two',
  contact: { state: 'CONNECTED', sinceMs: 1, lastContactMs: 60_000, message: null },
  taints: [
    { key: 'dedicated', value: 'ml' },
    { key: 'owner', value: 'bob' },
  ],
  wakeAddress: 'aa:bb:cc:00:11:22',
});
const off: MachineView = {
  ...two,
  id: 'three',
  state: 'DEAD',
  scheduling: 'DRAINED',
  contact: { state: 'OFF', sinceMs: 1, lastContactMs: null, message: 'Nothing answers at ssh://three.' },
};
const list: Answers = { 'machine.list': () => ({ machines: [one, two, off] }) };

const check = (outcome: MachineCheck['outcome'], more: Partial<MachineCheck> = {}): MachineCheck => ({
  step: 'host-key',
  outcome,
  message: 'Its key is not known.',
  advice: null,
  fingerprint: null,
  ...more,
});

async function run(words: readonly string[], answers: Answers, json = false) {
  host = await FakeHost.start(answers);
  const made = testContext(host.home, { json });
  contexts.push(made);
  try {
    const code = await runProgram(made.context, words);
    return { code, out: made.out(), err: made.err(), refused: null };
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return { code: -1, out: made.out(), err: made.err(), refused: error.refusal };
  }
}

const params = (method: string) =>
  host.calls.filter((call) => call.method === method).map((call) => call.params);

afterEach(async () => {
  for (const made of contexts.splice(0)) made.context.link.close();
  await host.dispose();
});

describe('machine list and show', () => {
  it('shows people a line a machine, with what is the matter', async () => {
    const { code, out } = await run(['machine', 'list'], list);
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^MACHINE +STATE +CPU FREE +MEMORY FREE +GPUS FREE +TASKS +BUSY +NOTE$/);
    expect(lines[1]).toMatch(
      /^one +HEALTHY +19\.5\/32 +160 GiB \/ 256 GiB +0\/0 +6 +34 % +nvidia-smi is not/,
    );
    expect(lines[2]).toMatch(/^two +HEALTHY .* 1\/4 +6 +34 %$/);
    expect(lines[3]).toMatch(/^three +DRAINED,OFF .* Nothing answers at ssh:\/\/three\.$/);
  });

  it('gives programs the records, also where the original has them', async () => {
    const { out } = await run(['worker', 'list'], list, true);
    expect(JSON.parse(out)).toEqual([one, two, off]);
  });

  it('shows one machine, whatever the case of its name', async () => {
    const queue = () => ({ atMs: 0, bands: [], items: [], reservations: [] });
    const { code, out } = await run(['machine', 'show', 'TWO'], { ...list, 'queue.get': queue });
    expect(code).toBe(0);
    for (const line of [
      /^Machine +two$/m,
      /^State +HEALTHY$/m,
      /^Address +ssh:\/\/two$/m,
      /^Contact +CONNECTED, last 1970-01-01T00:01:00Z$/m,
      /^Taints +dedicated=ml owner=bob$/m,
      /^Woken by +aa:bb:cc:00:11:22$/m,
    ])
      expect(out).toMatch(line);
  });

  it('says what jobs of other controllers have of it', async () => {
    const others = { cpuMillicores: 1500, memoryBytes: 2 ** 30 };
    const { out } = await run(['machine', 'show'], {
      'machine.list': () => ({ machines: [{ ...one, others }] }),
    });
    expect(out).toMatch(/^Processors .* free for jobs, 1\.5 with jobs of other controllers$/m);
    expect(out).toMatch(/^Memory .* free for jobs, 1 GiB with jobs of other controllers$/m);
  });

  it('says that Docker was not looked at, which is no state of it', async () => {
    const docker = { ...one.docker, state: 'UNKNOWN' as const, version: null, message: null };
    const { out } = await run(['machine', 'show'], {
      'machine.list': () => ({ machines: [{ ...one, docker }] }),
    });
    expect(out).toMatch(/^Docker +not looked at yet$/m);
  });

  it('without a name shows the only one, and asks for a name where there are several', async () => {
    const only = await run(['machine', 'show'], { 'machine.list': () => ({ machines: [one] }) }, true);
    expect(JSON.parse(only.out)).toEqual(one);
    await host.dispose();
    const { refused } = await run(['machine', 'show'], list);
    expect(refused?.message).toBe('Name the machine to show; there are one, two, three.');
  });

  it('refuses a name nobody has with those there are', async () => {
    const { refused } = await run(['machine', 'show', 'tow'], list);
    expect(refused).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no machine tow; there are one, two, three.',
    });
  });
});

describe('machine check', () => {
  it('prints the steps; exit code 0 when it is usable', async () => {
    const checks = [check('OK', { message: 'Its key is known.' })];
    const { code, out } = await run(['machine', 'check', 'ws-2'], {
      'machine.check': () => ({ checks, usable: true }),
    });
    expect(code).toBe(0);
    expect(out).toBe('STEP      OUTCOME  FOUND\nhost-key  OK       Its key is known.\n');
    expect(params('machine.check')).toEqual([{ address: 'ws-2', acceptKey: null }]);
  });

  it('exit code 1 when it is not, with what to do', async () => {
    const checks = [check('FAILED', { advice: 'Compare it, then accept it.', fingerprint: 'SHA256:abc' })];
    const { code, out, err } = await run(['machine', 'check', 'ssh://ws-2', '--accept-key', 'SHA256:x'], {
      'machine.check': () => ({ checks, usable: false }),
    });
    expect(code).toBe(1);
    expect(out).toContain('FAILED   Its key is not known. Compare it, then accept it. SHA256:abc');
    expect(err).toContain('ssh://ws-2 cannot be used as it is');
    expect(params('machine.check')).toEqual([{ address: 'ssh://ws-2', acceptKey: 'SHA256:x' }]);
  });

  it('refuses what is no address before it asks anybody', async () => {
    const { refused } = await run(['machine', 'check', 'http://ws-2'], {});
    expect(refused?.message).toContain(
      'ADDRESS: http://ws-2 is not valid; expected an address such as ssh://ws-2',
    );
    expect(host.calls.filter(({ method }) => method.startsWith('machine.'))).toEqual([]);
  });
});

describe('machine add', () => {
  it('names the machine, and says what is worth knowing', async () => {
    const warning = check('WARNING', { message: 'Its clock is 9 s ahead.', advice: 'Set it.' });
    const { code, out, err } = await run(['machine', 'add', 'ssh://two', '--name', 'two'], {
      'machine.add': () => ({ machine: two, checks: [check('OK'), warning] }),
    });
    expect([code, out, err]).toEqual([0, 'two HEALTHY\n', 'irisctl: Its clock is 9 s ahead. Set it.\n']);
    expect(params('machine.add')).toEqual([
      { requestId: expect.any(String) as string, name: 'two', address: 'ssh://two', acceptKey: null },
    ]);
  });

  it('that did not happen prints the steps; exit code 1', async () => {
    const { code, out, err } = await run(
      ['machine', 'add', 'two', '--name', 'two', '--accept-key', 'SHA256:x'],
      { 'machine.add': () => ({ machine: null, checks: [check('FAILED')] }) },
    );
    expect(code).toBe(1);
    expect(out).toContain('host-key  FAILED');
    expect(err).toContain('two was not added');
  });

  it('refuses a name that is none, and to do without', async () => {
    const bad = await run(['machine', 'add', 'two', '--name', '-x'], {});
    expect(bad.refused?.message).toContain('--name: -x is not valid; expected a name of letters, digits');
    await host.dispose();
    const without = await run(['machine', 'add', 'two'], {});
    expect(without.refused?.message).toContain("required option '--name <NAME>' not specified");
  });
});

describe('cordon, uncordon, drain and remove', () => {
  it.each([
    [['cordon', 'two'], { kind: 'cordon' }, 'CORDONED', 'two CORDONED\n'],
    [['uncordon', 'two'], { kind: 'uncordon' }, 'OPEN', 'two HEALTHY\n'],
    [['drain', 'two'], { kind: 'drain', deadlineMs: null }, 'DRAINING', 'two DRAINING\n'],
    [
      ['drain', 'two', '--deadline', '10m'],
      { kind: 'drain', deadlineMs: 600_000 },
      'DRAINED',
      'two DRAINED\n',
    ],
    [['release-gpu', 'two', 'GPU-1'], { kind: 'release-gpu', uuid: 'GPU-1' }, 'OPEN', 'two HEALTHY\n'],
  ] as const)('%j', async (words, change, scheduling, said) => {
    const { code, out } = await run(['machine', ...words], {
      'machine.change': () => ({ ...two, scheduling }),
    });
    expect([code, out]).toEqual([0, said]);
    expect(params('machine.change')).toMatchObject([{ machineId: 'two', change }]);
  });

  it('drain --wait returns once it is drained', async () => {
    let looks = 0;
    const { code, out } = await run(['machine', 'drain', 'two', '--wait'], {
      'machine.change': () => ({ ...two, scheduling: 'DRAINING' }),
      'machine.list': () => {
        looks += 1;
        return { machines: [one, { ...two, scheduling: looks < 2 ? 'DRAINING' : 'DRAINED' }] };
      },
    });
    expect([code, out, looks]).toEqual([0, 'two DRAINED\n', 2]);
  });

  it('drain --wait ends when somebody calls it off', async () => {
    const { refused } = await run(['machine', 'drain', 'two', '--wait'], {
      'machine.change': () => ({ ...two, scheduling: 'DRAINING' }),
      'machine.list': () => ({ machines: [{ ...two, scheduling: 'OPEN' }] }),
    });
    expect(refused?.message).toBe('The drain of two was called off meanwhile: it is open.');
  });

  it('refuses a deadline that is no time', async () => {
    const { refused } = await run(['machine', 'drain', 'two', '--deadline', 'soon'], {});
    expect(refused?.message).toContain('--deadline: soon is not valid; expected');
  });

  it.each([
    [['remove', 'two'], false],
    [['rm', 'two', '--force'], true],
  ])('%j', async (words, force) => {
    const { code, out } = await run(['machine', ...words], {
      'machine.remove': () => ({ notStopped: null }),
    });
    expect([code, out]).toEqual([0, 'two REMOVED\n']);
    expect(params('machine.remove')).toMatchObject([{ machineId: 'two', force }]);
  });

  it('remove says what could not be stopped there', async () => {
    const notStopped = 'two is not in contact, so what runs there could not be stopped: /ann/a/0.';
    const { code, out } = await run(['machine', 'remove', 'two', '--force'], {
      'machine.remove': () => ({ notStopped }),
    });
    expect([code, out]).toEqual([0, `two REMOVED\n${notStopped}\n`]);
  });

  it('says what the host refuses', async () => {
    const { refused } = await run(['machine', 'remove', 'two'], {
      'machine.remove': () => {
        throw new RefusalError(refusal('FAILED_PRECONDITION', '/ann/a/0 runs on two.'));
      },
    });
    expect(refused?.message).toBe('/ann/a/0 runs on two.');
  });
});

describe('machine set', () => {
  const set: Answers = { ...list, 'machine.change': () => two };
  const changes = () => params('machine.change').map((each) => (each as { change: unknown }).change);

  it.each([
    [
      ['--attribute', 'rack=r1', '--attribute', 'cuda-major=12', '--attribute', 'old='],
      [{ kind: 'attributes', attributes: { rack: 'r1', 'cuda-major': 12, old: null } }],
    ],
    [['--attribute', 'version=1.10'], [{ kind: 'attributes', attributes: { version: '1.10' } }]],
    [
      ['--taint', 'dedicated=web'],
      [
        {
          kind: 'taints',
          taints: [
            { key: 'owner', value: 'bob' },
            { key: 'dedicated', value: 'web' },
          ],
        },
      ],
    ],
    [['--untaint', 'owner'], [{ kind: 'taints', taints: [{ key: 'dedicated', value: 'ml' }] }]],
    [['--wake-address', 'AA:BB:CC:00:11:22'], [{ kind: 'wake-address', wakeAddress: 'AA:BB:CC:00:11:22' }]],
    [
      ['--wake-address', 'none', '--attribute', 'a=b'],
      [
        { kind: 'attributes', attributes: { a: 'b' } },
        { kind: 'wake-address', wakeAddress: null },
      ],
    ],
  ])('%j', async (words, expected) => {
    const { code, out } = await run(['machine', 'set', 'two', ...words], set);
    expect(code).toBe(0);
    expect(out).toMatch(/^Machine +two$/m);
    expect(changes()).toEqual(expected);
  });

  it.each([
    [[], 'Nothing to set of two: name --attribute, --taint, --untaint or --wake-address.'],
    [['--attribute', 'rack'], '--attribute: rack is not valid; expected KEY=VALUE.'],
    [['--taint', '=x'], '--taint: =x is not valid; expected KEY=VALUE.'],
    [['--untaint', 'rack'], '--untaint: rack is not valid; expected one of dedicated, owner.'],
    [
      ['--attribute', 'a=b', '--taint', 'c=d', '--wake-address', 'its card'],
      'wakeAddress: its card is not valid; expected a hardware address such as aa:bb:cc:dd:ee:ff, as `ip link` shows it on that machine.',
    ],
    [
      ['--attribute', 'a=b', '--taint', 'machine=two'],
      'machine is the name of the machine itself and cannot be set.',
    ],
    [
      ['--attribute', 'a=b', '--taint', 'c=d', '--taint', 'c=e'],
      'The taint c is named twice; a machine has one value of each.',
    ],
    [
      ['--attribute', 'a=b', '--wake-address', 'aa:bb:cc:dd:ee:ff:00:11'],
      'wakeAddress: aa:bb:cc:dd:ee:ff:00:11 is not valid; expected a hardware address such as aa:bb:cc:dd:ee:ff, as `ip link` shows it on that machine.',
    ],
    [
      ['--attribute', `rack=${'r'.repeat(254)}`],
      `attributes.rack: ${'r'.repeat(77)}... is not valid; expected at most 253 characters.`,
    ],
    [
      ['--taint', `${'r'.repeat(254)}=x`],
      `taints.2.key: ${'r'.repeat(77)}... is not valid; expected a key of 1 to 253 characters.`,
    ],
  ])('refuses %j and changes nothing', async (words, message) => {
    const { refused } = await run(['machine', 'set', 'two', ...words], set);
    expect(refused?.message).toBe(message);
    expect(changes()).toEqual([]);
  });

  it('refuses a wake address that is too long to be one before it asks', async () => {
    const { refused } = await run(
      ['machine', 'set', 'two', '--wake-address', 'aa:bb:cc:dd:ee:ff:00:11'],
      set,
    );
    expect(refused?.code).toBe('INVALID_ARGUMENT');
    expect(changes()).toEqual([]);
  });
});

it('machine wake sends the packet', async () => {
  const { code, out } = await run(['machine', 'wake', 'two'], { 'machine.wake': () => ({}) });
  expect([code, out]).toEqual([0, 'The packet for two was sent; machine list shows when it is there.\n']);
  expect(params('machine.wake')).toEqual([{ machineId: 'two' }]);
});

describe('docker check', () => {
  const ready = {
    state: 'READY',
    version: '28.1',
    gpus: false,
    message: null,
    found: {
      engine: 'Docker',
      at: '/run/user/7/docker.sock',
      from: 'looked for in XDG_RUNTIME_DIR',
      rootless: true,
    },
    storage: { path: '/home/ann/docker', totalBytes: 100 * 1024 ** 3, freeBytes: 40 * 1024 ** 3 },
  } as const;
  const checked = (...machines: MachineView[]) =>
    run(['docker', 'check'], { 'machine.list': () => ({ machines }) });

  it('says what was found where, and its room', async () => {
    expect(await checked({ ...one, docker: ready })).toMatchObject({
      code: 0,
      out: 'one: rootless Docker 28.1 is ready at /run/user/7/docker.sock (looked for in XDG_RUNTIME_DIR); no NVIDIA runtime and no CDI device of a card, so containers can be given no GPUs. /home/ann/docker, where Docker keeps its data, has 40 GiB of 100 GiB free.\n',
    });
  });

  it('waits for no machine that is off, and says that of it, whatever was seen before', async () => {
    const before = { ...off, id: 'four', docker: ready };
    const { code, out } = await checked({ ...one, docker: ready }, off, before);
    expect(params('machine.list')).toHaveLength(1);
    expect([code, out.split('\n').slice(1)]).toEqual([
      0,
      [`three: ${off.contact.message ?? ''}`, `four: ${off.contact.message ?? ''}`, ''],
    ]);
    await host.dispose();
    expect((await checked(before)).code).toBe(125);
  });

  it('says what is wrong, also of one that is ready', async () => {
    const docker = { ...ready, message: '/home/ann/docker is full.' };
    const absent = { ...one.docker, state: 'ABSENT', message: 'There is none.' } as const;
    const { code, out } = await checked({ ...one, docker }, { ...two, docker: absent });
    expect([code, out.split('\n')]).toEqual([
      0,
      [expect.stringMatching(/no GPUs\. \/home\/ann\/docker is full\.$/), 'two: There is none.', ''],
    ]);
  });
});
