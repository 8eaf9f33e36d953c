/** The Docker runtime on a real Engine: what only containers have. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import { eventually } from '../harness/process-backend.js';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import type { BackendProbe } from '../harness/backend-probe.js';

describe.skipIf(noEngine)(withEngine('attempts in containers'), () => {
  let engine: OwnEngine;
  let backends: DockerBackends;
  let probe: BackendProbe;
  beforeAll(async () => {
    engine = await ownEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    probe = await backends.open();
  });
  afterEach(() => backends.dispose());

  const stopOf = (uid: string) => probe.stop(uid, { container: true });

  test('says that Docker is ready', async () => {
    await probe.until(() => probe.lastWorkers[0]?.docker?.state === 'READY');
    expect(probe.lastWorkers[0]?.docker).toMatchObject({ message: null, gpus: false });
  });

  test('runs in the folder in place, as who runs us, with a private folder and its files', async () => {
    writeFileSync(path.join(backends.work, 'given'), 'given\n');
    const script =
      'cat given; pwd; id -u; cat "$IRIS_WORKDIR/staged/a"; echo made >made; echo $IRIS_TASK_ID $OWN';
    const launch = backends.launch({
      command: ['sh', '-c', script],
      environment: { OWN: 'own=value' },
      files: [{ path: 'staged/a', contentBase64: Buffer.from('staged\n').toString('base64') }],
    });
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    expect(await probe.text(launch.uid)).toBe(
      `given\n${backends.work}\n${process.getuid?.()}\nstaged\n${launch.taskId} own=value\n`,
    );
    expect(readFileSync(path.join(backends.work, 'made'), 'utf8')).toBe('made\n');
    expect(statSync(path.join(backends.work, 'made')).uid).toBe(process.getuid?.());
  });

  test('is built before it runs, and its container is removed once its log is copied', async () => {
    const launch = backends.launch({ command: ['sh', '-c', 'echo one; echo two >&2; sleep 300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    const [first] = probe.reports.filter(({ uid }) => uid === launch.uid);
    expect(first?.state).toBe('BUILDING');
    expect(await backends.containers()).toEqual([`iris-${launch.uid}`]);
    stopOf(launch.uid);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'KILLED', signal: 'SIGTERM' });
    expect(await probe.text(launch.uid)).toBe('one\n');
    expect(await probe.text(launch.uid, 'err')).toBe('two\n');
    await expect.poll(() => backends.containers()).toEqual([]);
  });

  test('names the limit when memory runs out, and calls a kill a kill', async () => {
    const hungry = backends.launch({
      command: ['sh', '-c', 'x=a; while true; do x=$x$x; done'],
      memory: '32MB',
    });
    const limits =
      'cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null; kill -9 $$';
    const killed = backends.launch({ command: ['sh', '-c', limits], memory: '64MB' });
    probe.run(hungry);
    probe.run(killed);
    const end = await probe.over(hungry.uid);
    expect(end).toMatchObject({ state: 'FAILED', exitCode: 137, cause: { code: 'MEMORY_LIMIT' } });
    expect(end.cause?.message).toContain('30.5 MiB');
    expect(await probe.over(killed.uid)).toMatchObject({
      state: 'FAILED',
      exitCode: 137,
      signal: 'SIGKILL',
      cause: { code: 'EXIT_OR_SIGNAL' },
    });
    expect(await probe.text(killed.uid)).toBe('64000000\n');
  });

  test('tells what it uses: processor time, memory now and its peak, and disks', async () => {
    const other = await backends.open({ usageSampleMs: 100, usageTellMs: 200 });
    // In memory that is nobody's file, given back before the end.
    const script = [
      'dd if=/dev/zero of=written bs=1M count=3 conv=fsync 2>/dev/null',
      'dd if=/dev/zero of=/dev/shm/held bs=1M count=48 2>/dev/null',
      'until test -e burnt; do i=$((i+1)); done',
      'rm /dev/shm/held; touch freed; until test -e stop; do usleep 20000; done',
    ].join('\n');
    const launch = backends.launch({ command: ['sh', '-c', script], memory: '256MB' });
    const told = () => other.last(launch.uid)?.usage;
    other.run(launch);
    await other.until(() => (told()?.cpuSeconds ?? 0) > 1.5, 60_000);
    const held = told()?.memoryBytes ?? 0;
    expect(held).toBeGreaterThan(48 * 1024 ** 2);
    expect(held).toBeLessThan(80 * 1024 ** 2);
    expect(told()).toMatchObject({ gpuPercent: null, energyJoules: null, devicesUsed: [] });
    writeFileSync(path.join(backends.work, 'burnt'), '');
    await other.until(() => (told()?.memoryBytes ?? held) < 20 * 1024 ** 2, 60_000);
    writeFileSync(path.join(backends.work, 'stop'), '');
    const end = await other.over(launch.uid);
    expect(end).toMatchObject({ state: 'SUCCEEDED' });
    expect(end.usage?.cpuSeconds).toBeGreaterThan(1.5);
    expect(end.usage?.memoryBytes).toBeLessThan(20 * 1024 ** 2);
    // What lies in memory, as the file above, is on no disk.
    expect(end.usage?.diskWrittenBytes).toBeGreaterThanOrEqual(3 * 1024 ** 2);
    expect(end.usage?.diskWrittenBytes).toBeLessThan(48 * 1024 ** 2);
    expect(end.peakMemoryBytes).toBeGreaterThan(48 * 1024 ** 2);
    expect(end.peakMemoryBytes).toBeLessThan(100 * 1024 ** 2);
  });

  test('says what is wrong with the program, the folder, the image and the mount', async () => {
    const mounted = (source: string) => ({ mounts: [{ source, target: '/x' }] });
    const cases: [Partial<JobRequest>, string, string][] = [
      [{ command: ['nosuchprogram'] }, 'PROGRAM_NOT_FOUND', 'nosuchprogram'],
      [{ workingDirectory: '/nosuchfolder' }, 'FOLDER_MISSING', '/nosuchfolder'],
      [{ workingDirectory: '/' }, 'FOLDER_NOT_PERMITTED', 'workingDirectory'],
      [{ image: 'nosuch:1', pull: 'never' }, 'IMAGE_UNAVAILABLE', 'nosuch:1'],
      [{ memory: '1MB' }, 'START_FAILED', '--memory'],
      [{ containerProfile: 'gvisor' }, 'START_FAILED', 'runsc'],
      [mounted(path.dirname(engine.socket)), 'FOLDER_NOT_PERMITTED', 'docker.sock'],
      [mounted(backends.folder), 'FOLDER_NOT_PERMITTED', 'data of Iris Desktop'],
    ];
    for (const [request, code, word] of cases) {
      const launch = backends.launch({ command: ['true'], ...request });
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect([end.state, end.cause?.code]).toEqual(['FAILED', code]);
      expect(end.cause?.message).toContain(word);
    }
    await expect.poll(() => backends.containers()).toEqual([]);
  });

  test('asks for cards by name, and says when the Engine can give none', async () => {
    const launch = backends.launch(
      { command: ['true'] },
      { devices: ['GPU-a0000001-0000-4000-8000-000000000001'] },
    );
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'START_FAILED' } });
    expect(end.cause?.message).toContain('NVIDIA container toolkit');
    // As of another maker: the Engine has no way to give it.
    const other = backends.launch({ command: ['true'] }, { devices: ['amd-0'] });
    probe.run(other);
    const refused = await probe.over(other.uid);
    expect(refused).toMatchObject({ state: 'FAILED', cause: { code: 'START_FAILED' } });
    expect(refused.cause?.message).toContain('amd-0 cannot be given to a container: only NVIDIA cards can');
  });

  test('drops rights by default, and keeps none when restricted', async () => {
    const script = "sed -n 's/^\\(CapBnd\\|NoNewPrivs\\):[[:space:]]*//p' /proc/self/status";
    const said = async (containerProfile: 'DEFAULT' | 'RESTRICTED') => {
      const launch = backends.launch({ command: ['sh', '-c', script], containerProfile });
      probe.run(launch);
      await probe.over(launch.uid);
      return (await probe.text(launch.uid)).trim().split('\n');
    };
    // SYS_PTRACE is capability 19.
    expect(await said('DEFAULT')).toEqual(['0000000000080000', '1']);
    expect(await said('RESTRICTED')).toEqual(['0000000000000000', '1']);
  });

  test('limits processes and shared memory, and mounts folders as asked', async () => {
    const data = path.join(backends.work, '..', 'data');
    mkdirSync(data);
    writeFileSync(path.join(data, 'file'), 'data\n');
    const script = [
      'cat /data/file; echo x 2>/dev/null >/data/file || echo read only',
      "df -k /dev/shm | tail -1 | tr -s ' ' | cut -d' ' -f2",
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5 & done; echo done',
    ].join('\n');
    const launch = backends.launch({
      command: ['sh', '-c', script],
      mounts: [{ source: data, target: '/data', readOnly: true }],
      shm: '8MiB',
      pidsLimit: 8,
    });
    probe.run(launch);
    await probe.over(launch.uid);
    expect((await probe.text(launch.uid)).split('\n').slice(0, 3)).toEqual(['data', 'read only', '8192']);
    expect(await probe.text(launch.uid, 'err')).toContain('fork');
  });

  test('runs set-up scripts in their order before the command, which sees what they made', async () => {
    const launch = backends.launch({
      command: ['sh', '-c', 'cat made; echo "[$GONE]"'],
      setup: ['export GONE=gone; echo first; echo one >made', 'echo second >&2; echo two >>made'],
    });
    probe.run(launch);
    expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
    expect(await probe.text(launch.uid)).toBe(
      '[iris setup] step 1/2\nfirst\n[iris setup] step 2/2\none\ntwo\n[]\n',
    );
    expect(await probe.text(launch.uid, 'err')).toBe('second\n');
  });

  test('a set-up that fails ends the attempt with what it said', async () => {
    const launch = backends.launch({
      command: ['sh', '-c', 'echo never'],
      setup: ['echo "no such package: foo" >&2; exit 4', 'echo never'],
    });
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', exitCode: 4, cause: { code: 'SETUP_FAILED' } });
    expect(end.cause?.message).toContain('no such package: foo');
    expect(await probe.text(launch.uid)).toBe('[iris setup] step 1/2\n');
    expect(probe.reports.some(({ uid, state }) => uid === launch.uid && state === 'RUNNING')).toBe(false);
  });

  test('runs the command in the Python environment its set-up made', async () => {
    const launch = backends.launch({
      command: ['hello'],
      setup: [
        'mkdir -p "$IRIS_VENV/bin" && touch "$IRIS_VENV/pyvenv.cfg" && printf "#!/bin/sh\\necho from \\$VIRTUAL_ENV\\n" >"$IRIS_VENV/bin/hello" && chmod 755 "$IRIS_VENV/bin/hello"',
      ],
    });
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(launch.uid)).toBe('[iris setup] step 1/1\nfrom /iris/work/.venv\n');
  });

  test('what one job leaves in the caches another finds', async () => {
    const first = backends.launch({
      command: ['sh', '-c', 'echo a wheel >"$UV_CACHE_DIR/kept"; echo b >/cache/kept'],
    });
    probe.run(first);
    expect(await probe.over(first.uid)).toMatchObject({ state: 'SUCCEEDED' });
    const second = backends.launch({ command: ['sh', '-c', 'cat "$UV_CACHE_DIR/kept" /cache/kept'] });
    probe.run(second);
    await probe.over(second.uid);
    expect(await probe.text(second.uid)).toBe('a wheel\nb\n');
  });

  test('says by the last line of its error output why it failed', async () => {
    const launch = backends.launch({
      command: ['sh', '-c', 'echo "Traceback" >&2; echo "RuntimeError: out of memory" >&2; exit 3'],
    });
    probe.run(launch);
    expect((await probe.over(launch.uid)).cause).toEqual({
      code: 'EXIT_CODE',
      message: 'sh ended with exit code 3. It said last: RuntimeError: out of memory',
    });
  });

  test('gives a terminal, whose log is kept from its first letter on', async () => {
    const launch = backends.launch({
      command: ['sh', '-c', 'test -t 1 && printf "\\033[34mINFO\\033[0m one"; echo two >&2'],
      tty: true,
    });
    probe.run(launch);
    await probe.over(launch.uid);
    expect(await probe.text(launch.uid)).toBe('\u001b[34mINFO\u001b[0m onetwo\r\n');
    expect(await probe.text(launch.uid, 'err')).toBe('');
  });

  test('copies huge lines, progress without newlines and an end without one, byte for byte', async () => {
    const script = [
      'awk \'BEGIN { for (i = 0; i < 89000; i++) printf "x"; printf "\\n" }\'',
      'awk \'BEGIN { for (i = 0; i < 200000; i++) printf "\\r%3d%%", i % 100 }\' >&2',
      'printf end',
    ].join('\n');
    const launch = backends.launch({ command: ['sh', '-c', script] });
    probe.run(launch);
    await probe.over(launch.uid);
    expect(await probe.text(launch.uid)).toBe(`${'x'.repeat(89_000)}\nend`);
    const progress = Array.from({ length: 200_000 }, (_, index) => `\r${String(index % 100).padStart(3)}%`);
    expect((await probe.text(launch.uid, 'err')) === progress.join('')).toBe(true);
  });

  test('leaves a container that is not ours alone, also one with a name of ours', async () => {
    const launch = backends.launch({ command: ['true'] });
    const name = `iris-${launch.uid}`;
    const run = ['run', '-d', '--network', 'host', '--name', name, '--label', 'iris.managed=another'];
    await engine.docker(...run, 'iris-test:1', 'sleep', '300');
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end.state).not.toBe('SUCCEEDED');
    expect(end.cause?.message).toContain(name);
    expect(await engine.docker('inspect', '-f', '{{.State.Running}}', name)).toBe('true\n');
  });

  test('removes what is left of attempts nobody asks about, and nothing else', async () => {
    const launch = backends.launch({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await engine.docker('run', '-d', '--network', 'host', '--name', 'other', 'iris-test:1', 'sleep', '300');
    await probe.backend.close();
    const next = await backends.open();
    next.backend.reconcile([]);
    await expect.poll(() => backends.containers()).toEqual(['other']);
  });

  test('lists images, says which are used, and what a fetch came to', async () => {
    const images = probe.backend.images?.('here');
    const launch = backends.launch({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    const [image] = (await images?.list()) ?? [];
    expect(image).toMatchObject({ machineId: 'here', names: ['iris-test:1'], inUse: 1 });
    await images?.pull('127.0.0.1:1/nosuch:1');
    await eventually(() => images?.pulls()[0]?.state === 'FAILED', 'the fetch has failed');
    expect(images?.pulls()[0]?.message).toContain('127.0.0.1:1/nosuch:1');
    await expect(images?.remove('sha256:nosuch')).rejects.toThrow(/nosuch/);
  });

  test('uses an Engine that is reached through a connection of somebody else', async () => {
    const connect = () => {
      const env = { ...process.env, DOCKER_HOST: `unix://${engine.socket}` };
      const child = spawn('docker', ['system', 'dial-stdio'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      return Duplex.from({ readable: child.stdout, writable: child.stdin });
    };
    const other = await backends.open({
      findEngine: () => ({
        ok: true,
        endpoint: { kind: 'connector', connect, said: 'the far machine' },
        from: 'the test',
      }),
    });
    const launch = backends.launch({ command: ['sh', '-c', 'echo far; exit 7'] });
    other.run(launch);
    expect(await other.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 7 });
    expect(await other.text(launch.uid)).toBe('far\n');
  });
});
