/** A machine reached by SSH on which nothing can be written any more: the cause is on the attempt, and the log says where it may end. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { logCutOf } from '../../core/formats/log-cut.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { launchOf } from '../harness/backend-probe.js';
import { describeLab, labMachines, quickLimits, type LabMachines, type LabProbe } from '../harness/lab.js';
import { eventually } from '../harness/process-backend.js';

let machines: LabMachines;
let host: LabHost;
let probe: LabProbe;

/** Where a login there keeps what is ours. */
const below = () => `${host.home}/.local/state/iris-desktop`;
const task = (script: string, more = {}) => launchOf({ command: ['sh', '-c', script], ...more });
/** Takes all the room there is; the file lies on the same small disk. */
const fill = () => host.sh(`dd if=/dev/zero of=${below()}/filler bs=4k 2>/dev/null || true`);
const empty = () => host.sh(`rm -f ${below()}/filler`);

describeLab('a full disk on a workstation by SSH', () => {
  beforeAll(async () => {
    machines = await labMachines();
  });
  afterAll(() => machines.dispose());
  beforeEach(async () => {
    host = await machines.lab.host('ws-full');
    host.sh(`mkdir -p ${below()} && mount -t tmpfs -o size=2m,mode=700 tmpfs ${below()}`);
    probe = await machines.open(host, quickLimits);
  });
  afterEach(async () => {
    await machines.closeProbes();
    await machines.lab.remove(host);
  });

  test('a task whose log cannot grow fails by that, and its log says after how much it may be cut', async () => {
    const launch = task('head -c 8000000 /dev/zero || exit 9');
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'LOG_STORAGE_FULL' } });
    expect(end.cause?.message).toContain('there: No space left on device) is full');
    const cut = logCutOf(end.warnings);
    expect(cut?.out).toBeGreaterThan(1_000_000);
    expect(cut?.out).toBe((await probe.backend.readLog(launch.uid, 'out', 0, 0)).size);
  });

  test('who was refused a write on another disk there tells of it in its cause', async () => {
    host.sh(`mkdir /root/other && mount -t tmpfs -o size=64k tmpfs /root/other`);
    const write = 'head -c 100000 /dev/zero >/root/other/file; code=$?; rm /root/other/file';
    const [refused, noise, fine] = [
      task(`seq 5000 >&2; ${write}; exit $((40 + code))`),
      // Too far from its end to be why it failed.
      task(`${write}; seq 5000 >&2; exit 3`),
      task(`${write}; exit 0`),
    ];
    probe.want(...[refused, noise, fine].map((launch) => ({ kind: 'run' as const, launch })));
    const end = await probe.over(refused.uid);
    expect(end).toMatchObject({ state: 'FAILED', exitCode: 41, cause: { code: 'EXIT_CODE' } });
    expect(end.cause?.message).toMatch(/ended with exit code 41, and said .*: .*No space left on device$/);
    expect((await probe.over(noise.uid)).cause?.message).toBe(
      'sh ended with exit code 3. It said last: 5000',
    );
    expect(await probe.over(fine.uid)).toMatchObject({ state: 'SUCCEEDED', cause: null });
  });

  test('one that lives on is told while it runs, and one that does well all the same has succeeded', async () => {
    const launch = task('echo before; until [ -e ~/gate ]; do sleep 0.05; done');
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await eventually(() => host.sh(`cat $(find ${below()} -name out)`) === 'before\n', 'its log has begun');
    fill();
    await probe.until(() => probe.last(launch.uid)?.warnings[0]?.code === 'LOG_STORAGE_FULL');
    expect(logCutOf(probe.last(launch.uid)?.warnings ?? [])).toEqual({ out: 7, err: 0 });
    expect(probe.last(launch.uid)?.warnings[0]?.message).toContain('while the task ran');
    empty();
    host.sh(`touch ${host.home}/gate`);
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'SUCCEEDED',
      warnings: [{ code: 'LOG_STORAGE_FULL' }],
    });
  });

  // As it is sent, and as it is put where the task finds it.
  test.each([3_000_000, 1_200_000])(
    'what cannot be staged for it is no fault of the task, and leaves nothing',
    async (bytes) => {
      const files = [{ path: 'in.bin', contentBase64: Buffer.alloc(bytes, 7).toString('base64') }];
      const staged = task('true', { files });
      probe.run(staged);
      expect(await probe.over(staged.uid)).toMatchObject({
        state: 'WORKER_FAILED',
        startedAtMs: null,
        cause: {
          code: 'LOG_STORAGE_FULL',
          message: 'The staged file in.bin could not be written there: No space left on device.',
        },
      });
      expect(host.sh(`find ${below()} -name in.bin`)).toBe('');
      const next = task('true');
      probe.run(next);
      expect(await probe.over(next.uid)).toMatchObject({ state: 'SUCCEEDED', warnings: [] });
    },
  );

  test('a staged file that can be on no disk is a fault of the task', async () => {
    const files = ['a', 'a/b'].map((path) => ({ path, contentBase64: '' }));
    const staged = task('true', { files });
    probe.run(staged);
    expect(await probe.over(staged.uid)).toMatchObject({
      state: 'FAILED',
      cause: {
        code: 'STAGING_FAILED',
        message: 'The staged file a/b could not be written there: Not a directory.',
      },
    });
  });

  test('what cannot be started for it says so', async () => {
    fill();
    const late = task('true');
    probe.run(late);
    expect(await probe.over(late.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'LOG_STORAGE_FULL', message: expect.stringContaining('No space left on device') },
    });
    empty();
    const next = task('true');
    probe.run(next);
    expect(await probe.over(next.uid)).toMatchObject({ state: 'SUCCEEDED', warnings: [] });
  });
});
