/** The environment of a container: what its image has, Iris' part, and the job's own on top. */
import type Docker from 'dockerode';
import path from 'node:path';
import { cacheNames, cacheTargets, type CacheName } from '../../../../core/contract/caches.js';
import { readEnvironment } from '../../../../core/formats/docker/inspect.js';
import type { AttemptLaunch } from '../../backend.js';
import { isInside, scratchTarget, type Bind } from './confinement.js';
import type { ContainerUser } from './container-plan.js';
import { EngineRefusal, type Engine } from './engine.js';

type Variables = Readonly<Record<string, string>>;

/** Where a set-up script makes a Python environment for the command, which then runs in it. */
const venvTarget = `${scratchTarget}/.venv`;

/** Docker's own, for an image that names none. */
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Packages of uv, models and data sets of the Hugging Face hub, crates of cargo, and a folder for whatever else. */
const caches = cacheNames.map((name) => ({ name, target: cacheTargets[name] }));

/** Given unless the job or its image chose otherwise; `unless`: also by one of these. */
const given: readonly {
  readonly variable: string;
  readonly value: string;
  readonly unless: readonly string[];
  readonly cache?: CacheName;
}[] = [
  { variable: 'PYTHONUNBUFFERED', value: '1', unless: [] },
  { variable: 'IRIS_VENV', value: venvTarget, unless: [] },
  { variable: 'UV_PROJECT_ENVIRONMENT', value: venvTarget, unless: [] },
  { variable: 'UV_CACHE_DIR', value: '/uv/cache', unless: ['UV_NO_CACHE', 'XDG_CACHE_HOME'], cache: 'uv' },
  { variable: 'UV_PYTHON_INSTALL_DIR', value: '/uv/cache/python', unless: [], cache: 'uv' },
  {
    variable: 'HF_HUB_CACHE',
    value: '/hf/cache',
    unless: ['HF_HOME', 'HUGGINGFACE_HUB_CACHE', 'XDG_CACHE_HOME'],
    cache: 'hf',
  },
  { variable: 'CARGO_HOME', value: '/cargo', unless: [], cache: 'cargo' },
];

/** Folders of the machine that are kept for that, all in one. */
export const cacheFolders = (folder: string): readonly string[] => [
  folder,
  ...caches.map(({ name }) => path.posix.join(folder, name)),
];

/** Beside the attempts' folders, of which `scratch` is the working folder of one. */
export const cachesBeside = (scratch: string): string => cachesOf(path.posix.resolve(scratch, '../..'));

/** All attempts' folders lie in that one. */
export const cachesOf = (attemptsFolder: string): string => path.posix.resolve(attemptsFolder, '../caches');

export interface EnvironmentInput {
  readonly launch: AttemptLaunch;
  readonly scratch: string;
  readonly binds: readonly Bind[];
  readonly user: ContainerUser | null;
  /** Null: there is no such image yet. */
  readonly image: Variables | null;
  /** Its set-up made a Python environment. */
  readonly venv: boolean;
}

/**
 * A folder the job has its own mounted at, above or below, is the job's. One of which the image's variables name a part, as its search path
 * does programs, is the image's: what lies there would be hidden.
 */
export function cacheBinds({
  scratch,
  binds,
  image,
}: Pick<EnvironmentInput, 'scratch' | 'binds' | 'image'>): Bind[] {
  const folder = cachesBeside(scratch);
  const named = foldersNamed(image ?? {});
  return caches
    .filter(
      ({ target }) =>
        !binds.some((own) => isInside(own.target, target) || isInside(target, own.target)) &&
        !named.some((each) => isInside(each, target)),
    )
    .map(({ name, target }) => ({ source: path.posix.join(folder, name), target, readOnly: false }));
}

/** But for the places of caches that the image gives the same as we do. */
function foldersNamed(image: Variables): readonly string[] {
  const others = Object.entries(image).filter(
    ([name, text]) => !given.some(({ variable, value }) => variable === name && value === text),
  );
  return others
    .flatMap(([, text]) => text.split(':'))
    .flatMap((text) => (text.startsWith('/') ? [path.posix.normalize(text)] : []))
    .map((text) => text.replace(/\/$/, ''));
}

/** The job's own over Iris' part, as in the original; but what clean-up goes by is nobody's to change. */
export function containerEnvironment(input: EnvironmentInput): Record<string, string> {
  const { launch, user } = input;
  const job: Record<string, string> = { ...launch.environment };
  // The controller's socket is not to be reached from inside.
  delete job['IRIS_DESKTOP_HOME'];
  const image = input.image ?? {};
  const mounted = new Set(cacheBinds(input).map(({ target }) => target));
  const chosen = (name: string): boolean => job[name] !== undefined || image[name] !== undefined;
  const ours = given
    .filter(({ variable, unless }) => ![variable, ...unless].some(chosen))
    .filter(({ cache }) => {
      const target = caches.find(({ name }) => name === cache)?.target;
      return target === undefined || mounted.has(target);
    });
  // Where the job names another, that one is its own business.
  const venv = input.venv && job['VIRTUAL_ENV'] === undefined && job['IRIS_VENV'] === undefined;
  const search = job['PATH'] ?? image['PATH'] ?? usualPath;
  return {
    ...Object.fromEntries(ours.map(({ variable, value }) => [variable, value])),
    ...(user === null || user.uid === 0 ? {} : ofUnknown(user)),
    ...job,
    ...(venv ? { VIRTUAL_ENV: venvTarget, PATH: `${venvTarget}/bin:${search}` } : {}),
    IRIS_ATTEMPT_UID: launch.uid,
    IRIS_WORKDIR: scratchTarget,
    IRIS_CHECKPOINT_FILE: `${scratchTarget}/checkpoint`,
    // Images ask for all cards by themselves where the NVIDIA runtime is the usual one.
    ...(launch.devices.length === 0 && launch.spec.containerProfile !== 'PRIVILEGED'
      ? { NVIDIA_VISIBLE_DEVICES: 'void' }
      : {}),
  };
}

/** A user the image does not know has no home and no name: programs write to the one, and some (PyTorch's compiler) fail without the other. */
function ofUnknown({ uid }: ContainerUser): Record<string, string> {
  return { HOME: scratchTarget, USER: `uid-${uid}`, LOGNAME: `uid-${uid}` };
}

/** What the image itself sets; null: it is not there, which is said where it is needed. */
export async function imageEnvironment(engine: Engine, image: string): Promise<Variables | null> {
  try {
    const { Config: config } = await engine.ask((docker) => docker.getImage(image).inspect());
    // Some versions say null where there is nothing.
    const entries = (config as Partial<Docker.ImageInspectInfo['Config']> | null)?.Env;
    return readEnvironment(Array.isArray(entries) ? entries : []);
  } catch (error) {
    if (error instanceof EngineRefusal && error.status === 404) return null;
    throw error;
  }
}

/** Whether the set-up of this attempt made one, seen on the machine by the file every such environment has. */
export const venvMark = (scratch: string): string => path.posix.join(scratch, '.venv', 'pyvenv.cfg');
