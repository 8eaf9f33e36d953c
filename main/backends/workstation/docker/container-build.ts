/** Makes the container of an attempt: its folders checked and staged, its image fetched where it has to be. */
import type { AttemptLaunch } from '../../backend.js';
import type { Cause } from '../../../../core/contract/views.js';
import { confine } from './confinement.js';
import type { ContainerContext } from './container-context.js';
import { imageEnvironment, venvMark } from './container-environment.js';
import { containerName, containerPlan, type PlanInput } from './container-plan.js';
import { EngineRefusal, type EngineFacts } from './engine.js';

/** The container's id; what stands against it, which the task may not be to blame for; or null: a stop came first. */
export type Built = { readonly id: string } | { readonly cause: Cause; readonly blameless?: true } | null;

export async function buildContainer(
  context: ContainerContext,
  folder: string,
  launch: AttemptLaunch,
  part: 'run' | 'set-up',
  stopAsked: Promise<void>,
): Promise<Built> {
  const { engine, files } = context;
  if (!(await engine.ready(0))) await engine.ask((docker) => docker.ping());
  const facts = engine.known();
  const stands = standsAgainst(launch, facts);
  if (stands !== null) return { cause: stands };
  const confined = await confine({
    spec: launch.spec,
    realPath: (path) => files.realPath(path),
    ownFolders: await ownFolders(context),
    engineSockets: await socketsOf(context, facts),
  });
  if (!confined.ok) return { cause: confined.cause };
  await context.caches.whenStill();
  const prepared = await files.prepare(
    folder,
    part === 'run' && launch.spec.setup.length > 0 ? [] : launch.spec.files,
    launch,
  );
  if ('cause' in prepared) return prepared;
  const socketPath = facts?.socketPath ?? null;
  const gid = socketPath === null ? null : files.socketGroup(socketPath);
  const venv =
    part === 'run' &&
    launch.spec.setup.length > 0 &&
    (await files.realPath(venvMark(prepared.scratch))) !== null;
  const input: Omit<PlanInput, 'image'> = {
    launch,
    owner: context.owner,
    binds: confined.binds,
    hidden: confined.hidden,
    scratch: prepared.scratch,
    venv,
    user: context.user(),
    init: context.init(),
    remapped: facts?.remapped === true,
    cdi: facts?.gpuWay === 'CDI',
    socket: socketPath === null || gid === null ? null : { path: socketPath, gid },
  };
  const { image, pull } = launch.spec;
  const fetch = async (): Promise<'there' | 'stopped'> => {
    const fetched = context.images.fetch(image ?? '').then(() => 'there' as const);
    // One that lost against a stop goes on for whoever else waits for it.
    fetched.catch(() => undefined);
    return Promise.race([fetched, stopAsked.then(() => 'stopped' as const)]);
  };
  if (
    pull === 'ALWAYS' &&
    part === (launch.spec.setup.length > 0 ? 'set-up' : 'run') &&
    (await fetch()) === 'stopped'
  )
    return null;
  const make = (init: boolean) =>
    context.slots.with(async () => {
      const own = await imageEnvironment(engine, image ?? '');
      const plan = containerPlan({ ...input, init, image: own }, part);
      return await engine.ask((docker) => docker.createContainer(plan));
    });
  // Docker says only at the start that it has no init program, Podman does so here.
  const create = () =>
    make(input.init).catch((error: unknown) => {
      const without = error instanceof EngineRefusal && error.reason.kind === 'INIT_MISSING';
      if (!without || !input.init) throw error;
      context.withoutInit();
      return make(false);
    });
  try {
    return { id: (await create()).id };
  } catch (error) {
    if (!(error instanceof EngineRefusal)) throw error;
    if (error.reason.kind === 'NAME_TAKEN') return { id: await existing(context, launch, part) };
    if (error.reason.kind !== 'NO_SUCH_IMAGE') throw error;
    if (pull === 'NEVER') {
      const message = `The image ${image ?? ''} is not on ${launch.workerId}, and it was asked never to be pulled. Pull it there (irisctl image pull), or ask for --pull missing.`;
      return { cause: { code: 'IMAGE_UNAVAILABLE', message } };
    }
    return (await fetch()) === 'stopped' ? null : { id: (await create()).id };
  }
}

/** Made a moment ago by a request whose answer was lost; whose it is, is looked at before anything is done with it. */
async function existing(
  context: ContainerContext,
  launch: AttemptLaunch,
  part: 'run' | 'set-up',
): Promise<string> {
  const name = containerName(launch.uid, part);
  const found = await context.engine.ask((docker) => docker.getContainer(name).inspect());
  if (found.Config.Labels['iris.managed'] === context.owner) return found.Id;
  throw new Error(`a container of the name ${name} is there that is not this program's; it was left alone`);
}

/** What the Engine would refuse in words that help nobody, or would not refuse. */
function standsAgainst(launch: AttemptLaunch, facts: EngineFacts | null): Cause | null {
  const { spec } = launch;
  const fault = (message: string): Cause => ({ code: 'START_FAILED', message });
  if (spec.containerProfile === 'GVISOR') {
    if (launch.devices.length > 0)
      return fault(
        'containerProfile: gvisor gives no GPUs to a container; ask for another profile, or for no GPU.',
      );
    if (facts !== null && !facts.runtimes.includes('runsc'))
      return fault(
        `containerProfile: gvisor needs the runtime runsc, which Docker on ${launch.workerId} does not have. Install gVisor there (runsc install) and restart Docker.`,
      );
  }
  if (spec.containerProfile === 'DOCKER_ACCESS' && facts !== null && facts.socketPath === null)
    return fault(
      `containerProfile: docker-access needs an Engine with a socket on the machine itself, and Docker on ${launch.workerId} is reached another way.`,
    );
  const foreign = launch.devices.find((device) => !/^(GPU|MIG)-|^[0-9A-F]{4,8}:/i.test(device));
  if (foreign !== undefined)
    return fault(
      `gpu: ${foreign} cannot be given to a container: only NVIDIA cards can so far. Run the job without an image.`,
    );
  return null;
}

/** What is not there cannot be covered; the first is the data itself, which is never told to be anybody else's. */
async function ownFolders({ files, ownFolders: named }: ContainerContext): Promise<readonly string[]> {
  const folders = named();
  const real = await Promise.all(folders.map((folder) => files.realPath(folder)));
  const there = folders.flatMap((folder, at) => real[at] ?? (at === 0 ? [folder] : []));
  return [...new Set(there)].filter((folder, at) => at === 0 || !folder.startsWith(`${there[0] ?? folder}/`));
}

async function socketsOf(context: ContainerContext, facts: EngineFacts | null): Promise<readonly string[]> {
  const paths = ['/var/run/docker.sock', '/run/containerd/containerd.sock', facts?.socketPath ?? null];
  const real = await Promise.all(
    paths.flatMap((path) =>
      path === null ? [] : [context.files.realPath(path).then((found) => found ?? path)],
    ),
  );
  return [...new Set(real)];
}
