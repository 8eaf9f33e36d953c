/**
 * A Podman of the test's own, which answers as Docker does on a socket of its own, with its own store; and a runtime for machines that have
 * not every right there is: what asks for a right or a limit that nobody here can have would not start.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { answers, engineObstacle, importImage, type OwnEngine } from '../../scripts/lib/engine.mjs';

const run = promisify(execFile);
const longMs = 120_000;
const missing = ['podman', 'runc'].filter((program) => spawnSync('which', [program]).status !== 0);
const obstacle =
  engineObstacle() ??
  (missing.length === 0 ? null : `${missing.join(', ')} not found (Debian: podman catatonit runc)`);
export const noPodman = obstacle !== null;
export const withPodman = (of: string): string => (obstacle === null ? of : `${of} (left out: ${obstacle})`);

export const rightsHere = (): bigint => boundingSet(readFileSync('/proc/self/status', 'utf8'));
export const everyRight = (): bigint =>
  (1n << BigInt(Number(readFileSync('/proc/sys/kernel/cap_last_cap', 'utf8')) + 1)) - 1n;
export function boundingSet(status: string): bigint {
  return BigInt(`0x${/^CapBnd:\s+([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
}

/** CAP_SYS_RESOURCE, which the rights of a virtual machine lack most often. */
const sysResource = 1n << 24n;

/** The file of a runtime that asks the usual one for no more than there is here. */
export function lesserRuntime(folder: string): string {
  const lacks = (rightsHere() & sysResource) === 0n ? ['CAP_SYS_RESOURCE'] : [];
  const edit = path.join(folder, 'lesser.mjs');
  writeFileSync(
    edit,
    `import { readFileSync, writeFileSync } from 'node:fs';
const at = process.argv.findIndex((word) => word === '--bundle' || word === '-b');
const file = process.argv[at + 1] + '/config.json';
const config = JSON.parse(readFileSync(file, 'utf8'));
const { capabilities = {} } = config.process;
for (const set of Object.keys(capabilities))
  capabilities[set] = capabilities[set].filter((right) => !${JSON.stringify(lacks)}.includes(right));
${lacks.length === 0 ? '' : 'delete config.process.rlimits;'}
writeFileSync(file, JSON.stringify(config));
`,
  );
  const runtime = path.join(folder, 'lesser');
  const script = `#!/bin/sh\ncase " $* " in *" create "*) '${process.execPath}' '${edit}' "$@" || exit 1 ;; esac\nexec runc "$@"\n`;
  writeFileSync(runtime, script, { mode: 0o755 });
  return runtime;
}

export async function startPodman(): Promise<OwnEngine> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'iris-podman-'));
  const place = (name: string) => path.join(folder, name);
  const socket = place('podman.sock');
  const store = ['--root', place('data'), '--runroot', place('run'), '--tmpdir', place('tmp')];
  const rest = [
    '--cgroup-manager',
    'cgroupfs',
    '--events-backend',
    'file',
    '--runtime',
    lesserRuntime(folder),
  ];
  const podman = async (...words: string[]): Promise<string> =>
    (await run('podman', [...store, ...rest, ...words], { maxBuffer: 64 * 1024 ** 2 })).stdout;
  const log = openSync(place('podman.log'), 'a');
  const start = () =>
    spawn('podman', [...store, ...rest, 'system', 'service', '-t', '0', `unix://${socket}`], {
      stdio: ['ignore', log, log],
      detached: true,
    });
  let child = start();
  const up = async (): Promise<void> => {
    for (const deadline = Date.now() + longMs; !(await answers(socket));) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`podman did not start:\n${readFileSync(place('podman.log'), 'utf8').slice(-3000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await gone;
  };
  const clear = async (): Promise<void> => {
    await podman('rm', '-a', '-f', '-t', '0');
  };
  await up();
  await importImage(folder, podman);
  return {
    folder,
    socket,
    pid: () => child.pid ?? 0,
    docker: podman,
    clear,
    kill: () => end('SIGKILL'),
    fall: () => end('SIGKILL'),
    quit: () => end('SIGTERM'),
    start: async () => {
      child = start();
      await up();
    },
    stop: async () => {
      await clear();
      await end('SIGTERM');
      await run('umount', [path.join(place('data'), 'overlay')]).catch(() => undefined);
      await run('rm', ['-rf', folder]);
    },
  };
}
