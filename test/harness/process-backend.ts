/** A workstation backend on real processes in a folder of its own, and ways to break it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import {
  createWorkstationBackend,
  type WorkstationOptions,
} from '../../main/backends/workstation/workstation-backend.js';
import { forkServerCommand } from '../../main/backends/workstation/process/fork-server.js';
import {
  forkServerKinds,
  type LauncherCommand,
} from '../../main/backends/workstation/process/launcher-channel.js';
import { createProcessView } from '../../main/machine/processes.js';
import { BackendProbe } from './backend-probe.js';
import { launcherFile } from './launcher-file.js';

export interface ProcessBackends {
  readonly folder: string;
  readonly warnings: string[];
  /** A backend on the folder, started and reconciled once with nothing unless `quiet`. */
  open(more?: Partial<WorkstationOptions>): Promise<BackendProbe>;
  /** Closes what is open, ends what is left, removes the folder. */
  dispose(): Promise<void>;
}

/** The ways to start attempts that this system has. */
export const launcherKinds: readonly LauncherCommand['kind'][] = [
  ...forkServerKinds.filter((kind) => forkServerCommand(kind) !== null),
  'node',
];

/** The one launcher of a kind. `as`: a program that runs it, such as setpriv. */
export async function launcherOf(
  kind: LauncherCommand['kind'],
  as: readonly string[] = [],
): Promise<LauncherCommand> {
  const node = async (): Promise<LauncherCommand> => ({
    kind: 'node',
    command: process.execPath,
    args: [await launcherFile()],
    env: process.env,
  });
  const own = kind === 'node' ? await node() : forkServerCommand(kind);
  if (own === null) throw new Error(`This system has no ${kind}.`);
  const [command = own.command, ...args] = [...as, own.command, ...own.args];
  return { ...own, command, args };
}

/** Without a kind, what a backend has by itself. */
export async function processBackends(kind?: LauncherCommand['kind']): Promise<ProcessBackends> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'iris-attempts-'));
  const open: BackendProbe[] = [];
  const warnings: string[] = [];
  const note = (message: string): void => {
    warnings.push(message);
  };
  return {
    folder,
    warnings,
    open: async (more = {}) => {
      const backend = createWorkstationBackend({
        attemptsFolder: folder,
        launcherFile: await launcherFile(),
        log: { info: () => undefined, warn: note, error: note },
        nowMs: () => Date.now(),
        monotonicMs: () => performance.now(),
        gpuReader: { read: () => Promise.resolve({ gpus: [], processes: [], note: 'none here' }) },
        ...(kind === undefined ? {} : { launchers: [await launcherOf(kind)] }),
        ...more,
      });
      const probe = new BackendProbe(backend);
      open.push(probe);
      await backend.start(probe);
      return probe;
    },
    dispose: async () => {
      for (const probe of open) await probe.backend.close();
      await endLiving(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Processes whose environment names a working folder below this one; zombies do not count. */
export function livingOf(folder: string): readonly number[] {
  return createProcessView()
    .scan()
    .filter(({ pid }) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`IRIS_WORKDIR=${folder}/`);
      } catch {
        return false; // ended meanwhile, or not ours
      }
    })
    .map(({ pid }) => pid);
}

/** Kills what `livingOf` names until it names nothing. */
export async function endLiving(folder: string): Promise<void> {
  const none = (): boolean => {
    const pids = livingOf(folder);
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        continue; // ended meanwhile
      }
    }
    return pids.length === 0;
  };
  await eventually(none, 'everything has ended');
}

/** Waits for a condition that no report tells of. */
export async function eventually(test: () => boolean, what: string, ms = 60_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!test()) {
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Pids of launchers that are children of this process. */
export function ownLaunchers(): readonly number[] {
  return createProcessView()
    .scan()
    .filter(({ pid, parentPid }) => {
      if (parentPid !== process.pid) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('launcher');
      } catch {
        return false; // ended meanwhile
      }
    })
    .map(({ pid }) => pid);
}
