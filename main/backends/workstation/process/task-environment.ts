/** The environment of a task: the user's own underneath, Iris' part and the job's on top. */
import type { GpuView } from '../../../../core/contract/gpus.js';
import type { AttemptLaunch } from '../../backend.js';
import { checkpointFile } from './checkpoints.js';

/** Variables that belong to this program or to how it was started, not to the user's login. */
const hostOnly = [
  /^ELECTRON_/,
  /^IRIS_/,
  /^NODE_(OPTIONS|ENV|CHANNEL_.*|UNIQUE_ID)$/,
  /^CHROME_(DESKTOP|CRASHPAD_.*|HEADLESS|RESTART|VERSION_EXTRA|WRAPPER)$/,
  /^VITEST/,
  /^ORIGINAL_XDG_CURRENT_DESKTOP$/,
  /^APPIMAGE$|^APPDIR$|^ARGV0$|^OWD$/,
];
/** Of npm where it runs us; else they are the user's own settings of it. */
const npmOnly = [/^npm_/, /^INIT_CWD$/];

export function loginEnvironment(own: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const underNpm = own['npm_lifecycle_event'] !== undefined;
  const left = underNpm ? [...hostOnly, ...npmOnly] : hostOnly;
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && !left.some((pattern) => pattern.test(name))) result[name] = value;
  }
  const searchPath = result['PATH'];
  if (underNpm && searchPath !== undefined) result['PATH'] = withoutNpm(searchPath);
  return result;
}

/** npm puts folders of its own before the user's; a task shall find what the user's terminal finds. */
function withoutNpm(searchPath: string): string {
  return searchPath
    .split(':')
    .filter((folder) => !/(\/node_modules\/\.bin|\/node-gyp-bin)\/?$/.test(folder))
    .join(':');
}

/** What is added to or changed in the login environment for one attempt. */
export function attemptEnvironment(
  launch: AttemptLaunch,
  login: Readonly<Record<string, string>>,
  workFolder: string,
  gpus: readonly GpuView[],
): Record<string, string> {
  return {
    ...(login['PYTHONUNBUFFERED'] === undefined ? { PYTHONUNBUFFERED: '1' } : {}),
    ...visibleDevices(launch.devices, gpus),
    ...launch.environment,
    // Stops and clean-up go by this one, and nothing of the job may change it.
    IRIS_ATTEMPT_UID: launch.uid,
    IRIS_WORKDIR: workFolder,
    IRIS_CHECKPOINT_FILE: checkpointFile(workFolder),
  };
}

/**
 * CUDA sees exactly what was allotted. Cards go by UUID, which no driver renumbers; one without a UUID by its index in bus order.
 * On a machine with cards a task that was given none sees none; without cards the variable is left alone.
 */
function visibleDevices(devices: readonly string[], gpus: readonly GpuView[]): Record<string, string> {
  if (devices.length === 0) return gpus.length === 0 ? {} : { CUDA_VISIBLE_DEVICES: '' };
  const named = devices.every((device) => /^(GPU|MIG)-/.test(device));
  if (named) return { CUDA_VISIBLE_DEVICES: devices.join(',') };
  const indices = devices.map((device) => {
    const card = gpus.find((gpu) => gpu.uuid === device);
    return card === undefined ? device : String(card.index);
  });
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: indices.join(',') };
}
