/** What the launcher is told to start one attempt. */
import path from 'node:path';
import type { GpuView } from '../../../../core/contract/gpus.js';
import type { AttemptLaunch } from '../../backend.js';
import { groupFolders, type GroupRoots } from './control-groups.js';
import type { StartItem } from './launcher-protocol.js';
import { limitsAtStart } from './processor-weight.js';
import { attemptEnvironment } from './task-environment.js';

export interface StartContext {
  readonly loginEnvironment: Readonly<Record<string, string>>;
  readonly gpus: readonly GpuView[];
  readonly groups: GroupRoots;
}

export function startItemOf(folder: string, launch: AttemptLaunch, context: StartContext): StartItem {
  const { spec, uid } = launch;
  // Only what was asked for makes a group: a default is a request to the scheduler, and the short path stays short.
  const limits = limitsAtStart(context.groups, {
    memoryBytes: spec.memoryIsLimit ? spec.memoryBytes : null,
    cpuMillicores: spec.asked.cpu ? spec.cpuMillicores : null,
  });
  return {
    uid,
    command: spec.command,
    folder: spec.workingDirectory,
    environment: attemptEnvironment(
      launch,
      context.loginEnvironment,
      path.join(folder, 'work'),
      context.gpus,
    ),
    files: spec.files,
    timeLimitMs: spec.timeoutMs,
    stopSignal: spec.stopSignal,
    graceMs: spec.graceMs,
    limits: groupFolders(context.groups, uid, limits).length > 0 ? limits : null,
  };
}
