/** A Docker Engine of the test's own, and workstation backends that use it. */
import { mkdtemp, rm, mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { AttemptLaunch } from '../../main/backends/backend.js';
import {
  createWorkstationBackend,
  type WorkstationOptions,
} from '../../main/backends/workstation/workstation-backend.js';
import { engineImage, engineObstacle, startEngine, type OwnEngine } from '../../scripts/lib/engine.mjs';
import { BackendProbe, launchOf } from './backend-probe.js';
import { launcherFile } from './launcher-file.js';

export { engineImage, type OwnEngine };

const obstacle = engineObstacle();
/** For `describe.skipIf`: the name says why. */
export const noEngine = obstacle !== null;
export const withEngine = (name: string): string =>
  obstacle === null ? name : `${name} (left out: ${obstacle})`;

export interface DockerBackends {
  readonly engine: OwnEngine;
  readonly folder: string;
  /** Where commands run. */
  readonly work: string;
  readonly warnings: string[];
  open(more?: Partial<WorkstationOptions>): Promise<BackendProbe>;
  launch(request: Partial<JobRequest> & { command: string[] }, more?: Partial<AttemptLaunch>): AttemptLaunch;
  /** Names of containers that are there. */
  containers(): Promise<readonly string[]>;
  /** Closes what is open and removes its containers and folders; the Engine goes on. */
  dispose(): Promise<void>;
}

export async function ownEngine(more: readonly string[] = [], programs?: string): Promise<OwnEngine> {
  return startEngine(await mkdtemp(path.join(os.tmpdir(), 'iris-engine-')), more, programs);
}

/** With a stand-in of NVIDIA's hook, which gives no card: the Engine takes device requests all the same. */
export async function engineWithHook(): Promise<OwnEngine> {
  const programs = await mkdtemp(path.join(os.tmpdir(), 'iris-hook-'));
  await writeFile(path.join(programs, 'nvidia-container-runtime-hook'), '#!/bin/sh\ncat >/dev/null\n', {
    mode: 0o755,
  });
  const engine = await ownEngine([], programs);
  return {
    ...engine,
    stop: async () => {
      await engine.stop();
      await rm(programs, { recursive: true, force: true });
    },
  };
}

export async function dockerBackends(engine: OwnEngine): Promise<DockerBackends> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'iris-docker-'));
  const folder = path.join(root, 'attempts');
  const work = path.join(root, 'work');
  await mkdir(work);
  const opened: BackendProbe[] = [];
  const warnings: string[] = [];
  const note = (message: string, detail?: unknown): void => {
    warnings.push(`${message} ${JSON.stringify(detail ?? '')}`);
  };
  return {
    engine,
    folder,
    work,
    warnings,
    open: async (more = {}) => {
      const backend = createWorkstationBackend({
        attemptsFolder: folder,
        launcherFile: await launcherFile(),
        workerId: 'here',
        log: { info: () => undefined, warn: note, error: note },
        nowMs: () => Date.now(),
        monotonicMs: () => performance.now(),
        checkpointSampleMs: 200,
        gpuReader: { read: () => Promise.resolve({ gpus: [], processes: [], note: 'none here' }) },
        findEngine: () => ({
          ok: true,
          endpoint: { kind: 'socket', path: engine.socket },
          from: 'the test',
        }),
        ...more,
      });
      const probe = new BackendProbe(backend);
      opened.push(probe);
      await backend.start(probe);
      return probe;
    },
    launch: (request, more = {}) =>
      launchOf({ image: engineImage, workingDirectory: work, ...request }, more),
    containers: async () =>
      (await engine.docker('ps', '-a', '--format', '{{.Names}}')).split('\n').filter(Boolean),
    dispose: async () => {
      for (const probe of opened) await probe.backend.close();
      await engine.clear();
      await rm(root, { recursive: true, force: true });
    },
  };
}
