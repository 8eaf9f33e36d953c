/** Which folders of the machine a container may see. */
import path from 'node:path';
import type { Mount } from '../../../../core/contract/container-fields.js';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import type { Cause } from '../../../../core/contract/views.js';

export interface ConfinementInput {
  readonly spec: Pick<JobSpec, 'workingDirectory' | 'mounts' | 'containerProfile'>;
  /** The path with all links followed; null: nothing is there. */
  readonly realPath: (path: string) => Promise<string | null>;
  /** What this program keeps and is commanded through: its data, and its sockets where these lie elsewhere. With links followed. */
  readonly ownFolders: readonly string[];
  /** Sockets through which the Engine is commanded, with links followed. */
  readonly engineSockets: readonly string[];
}

export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

export type Confined =
  | { readonly ok: true; readonly binds: readonly Bind[]; readonly hidden: readonly string[] }
  | { readonly ok: false; readonly cause: Cause };

/** Where the attempt's private folder is seen in its container. */
export const scratchTarget = '/iris/work';

/** Mounted over, the image's own programs would be hidden. */
const imageFolders = [
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib64',
  '/proc',
  '/run',
  '/sbin',
  '/sys',
  '/usr',
  '/var',
];

export const isInside = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);

export async function confine(input: ConfinementInput): Promise<Confined> {
  const { spec } = input;
  const binds: Bind[] = [];
  const hidden: string[] = [];
  const { workingDirectory: here } = spec;
  const work: Mount = { source: here, target: here, readOnly: false };
  for (const [at, mount] of [work, ...spec.mounts].entries()) {
    const field = at === 0 ? 'workingDirectory' : `mounts.${at - 1}`;
    // As the Engine will take it: a part that is `.` or empty must not hide where it leads.
    const target = path.posix.normalize(mount.target).replace(/\/+$/, '') || '/';
    const refused = (code: Cause['code'], why: string): Confined => ({
      ok: false,
      cause: { code, message: `${field}: ${mount.source} ${why}` },
    });
    if (imageFolders.includes(target)) {
      return refused(
        'FOLDER_NOT_PERMITTED',
        `cannot be seen as ${target} in a container, as it would hide that folder of the image. Choose a folder below it.`,
      );
    }
    if (
      isInside(target, '/iris') ||
      isInside(target, '/proc') ||
      isInside(target, '/sys') ||
      isInside(target, '/dev')
    ) {
      return refused(
        'FOLDER_NOT_PERMITTED',
        `cannot be seen as ${target} in a container, which is kept for the system. Choose another target.`,
      );
    }
    const source = await input.realPath(mount.source);
    if (source === null) return refused('FOLDER_MISSING', 'is not there. Create it, or name another folder.');
    if (spec.containerProfile !== 'DOCKER_ACCESS') {
      const socket = input.engineSockets.find((file) => isInside(file, source));
      if (socket !== undefined) {
        return refused(
          'FOLDER_NOT_PERMITTED',
          `holds ${socket}, through which a container could command the whole machine. Choose a folder without it, or ask for the profile docker-access.`,
        );
      }
      const own = input.ownFolders.find((folder) => isInside(source, folder));
      if (own !== undefined) {
        return refused(
          'FOLDER_NOT_PERMITTED',
          `belongs to the data of Iris Desktop (${own}), through which a container could command the controller. Choose another folder, or ask for the profile docker-access.`,
        );
      }
      // A home folder, or /tmp, may be seen; what it holds of ours is covered by an empty folder.
      for (const folder of input.ownFolders)
        if (isInside(folder, source)) hidden.push(path.join(target, path.relative(source, folder)));
    }
    binds.push({ source, target, readOnly: mount.readOnly });
  }
  return { ok: true, binds, hidden };
}
