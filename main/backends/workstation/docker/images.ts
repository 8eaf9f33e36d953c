/** The images of one Engine, and the fetches that run. */
import type { ImagePull, ImageView } from '../../../../core/contract/machines.js';
import { RefusalError, refusal } from '../../../../core/contract/errors.js';
import type { Cause } from '../../../../core/contract/views.js';
import { daemonSentence, readDaemonError } from '../../../../core/formats/docker/daemon-errors.js';
import {
  isFull,
  roomAdvice,
  roomSentence,
  type DataRoom,
} from '../../../../core/formats/docker/data-room.js';
import { pullTroubleOf, type PullTrouble } from '../../../../core/formats/docker/pull-errors.js';
import { PullProgress } from '../../../../core/formats/docker/pull-progress.js';
import type { CacheControl, ImageControl, ImageNewsKind } from '../../backend.js';
import { managedLabel } from './container-plan.js';
import { brokenOff, EngineRefusal, EngineSilent, EngineUnreachable, type Engine } from './engine.js';
import { ImageEvents } from './image-events.js';
import { hostOf, loginFor, registryOf } from './registry-login.js';

export interface ImagesOptions {
  readonly engine: Engine;
  readonly workerId: string;
  readonly owner: string;
  readonly nowMs: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** A registry that sends nothing for so long has hung up. */
  readonly silentMs?: number | undefined;
}

/** Ended fetches are shown so long. */
const keptMs = 10 * 60_000;
const usualSilentMs = 10 * 60_000;

/** Why a fetch did not bring its image. */
export class PullFailed extends Error {
  constructor(
    readonly why: Cause,
    readonly noSpace: boolean,
    readonly trouble: PullTrouble,
  ) {
    super(why.message);
  }
}

interface Pull {
  view: ImagePull;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  endedAtMs: number | null;
}

export class Images implements ImageControl {
  private readonly running = new Map<string, Pull>();
  private readonly watchers = new Set<(what: ImageNewsKind) => void>();
  private readonly events: ImageEvents;

  constructor(
    private readonly options: ImagesOptions,
    readonly caches: CacheControl,
  ) {
    const { engine, owner } = options;
    this.events = new ImageEvents({ engine, owner, changed: () => this.tell('images') });
  }

  async list(): Promise<readonly ImageView[]> {
    const { engine, owner, workerId } = this.options;
    if (engine.state().state !== 'READY') return [];
    const filters = { label: [`${managedLabel}=${owner}`] };
    const [images, containers] = await Promise.all([
      engine.ask((docker) => docker.listImages()),
      engine.ask((docker) => docker.listContainers({ all: true, filters })),
    ]).catch(refuse);
    return images.map(({ Id, RepoTags, Size, Created }) => ({
      machineId: workerId,
      id: Id,
      // Some versions say null where there are none.
      names: [...new Set<string>(Array.isArray(RepoTags) ? RepoTags : [])].filter(
        (name) => name !== '<none>:<none>',
      ),
      sizeBytes: Size,
      createdAtMs: Created * 1000,
      inUse: containers.filter(({ ImageID }) => ImageID === Id).length,
    }));
  }

  pulls(): readonly ImagePull[] {
    const now = this.options.nowMs();
    for (const [image, { endedAtMs }] of this.running)
      if (endedAtMs !== null && now - endedAtMs > keptMs) this.running.delete(image);
    return Array.from(this.running.values(), ({ view }) => view);
  }

  async pull(image: string): Promise<void> {
    const { engine } = this.options;
    if (!(await engine.ready(0)))
      throw new RefusalError(
        refusal('FAILED_PRECONDITION', engine.state().message ?? 'Docker is not ready.'),
      );
    // How it ends is told by `pulls`.
    this.fetch(image).catch(() => undefined);
  }

  /** Begins, or joins the one that runs. Rejects with PullFailed, or EngineUnreachable when the Engine was lost meanwhile. */
  fetch(image: string): Promise<void> {
    const before = this.running.get(image);
    if (before !== undefined && before.endedAtMs === null) return before.done;
    const abort = new AbortController();
    const view: ImagePull = {
      machineId: this.options.workerId,
      image,
      state: 'PULLING',
      totalBytes: null,
      doneBytes: 0,
      layers: 0,
      layersDone: 0,
      message: null,
      startedAtMs: this.options.nowMs(),
    };
    const progress = new PullProgress();
    // What did not fit is removed again before its failure is told.
    const seen: { full: DataRoom | null } = { full: null };
    const { room } = this.options.engine;
    const unwatch = room.watch((full) => {
      seen.full = full;
    });
    const pull: Pull = {
      view,
      abort,
      endedAtMs: null,
      done: this.follow(image, abort.signal, (item) => {
        progress.push(item);
        const { error: _, ...seen } = progress.state();
        pull.view = { ...pull.view, ...seen };
        this.tell('pulls');
        return progress.state().error;
      }).then(
        () => {
          unwatch();
          this.ended(pull, 'DONE', null);
        },
        async (error: unknown) => {
          const cancelled = abort.signal.aborted;
          // The Engine goes on for as long as its answer is read.
          abort.abort();
          const last = await room.look();
          unwatch();
          const cause: Cause = cancelled
            ? { code: 'IMAGE_UNAVAILABLE', message: `The pull of ${image} was cancelled.` }
            : failure(image, error, seen.full ?? last);
          this.ended(pull, cancelled ? 'CANCELLED' : 'FAILED', cause.message);
          // Says nothing of the image: whoever needs it waits for the Engine, and asks again.
          if (!cancelled && error instanceof EngineUnreachable) throw error;
          const noSpace = cause.code === 'DOCKER_STORAGE_FULL';
          throw new PullFailed(cause, noSpace, cancelled ? 'LASTING' : troubleOf(error));
        },
      ),
    };
    this.running.set(image, pull);
    this.tell('pulls');
    return pull.done;
  }

  cancel(image: string): void {
    this.running.get(image)?.abort.abort();
  }

  async remove(imageId: string): Promise<void> {
    await this.options.engine
      .ask((docker) => docker.getImage(imageId).remove({ force: false }))
      .catch(refuse);
  }

  watch(changed: (what: ImageNewsKind) => void): () => void {
    // The same function may watch twice.
    const watcher = (what: ImageNewsKind) => changed(what);
    this.watchers.add(watcher);
    this.events.listen(true);
    return () => {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) this.events.listen(false);
    };
  }

  close(): void {
    this.watchers.clear();
    this.events.listen(false);
  }

  tell(what: ImageNewsKind): void {
    for (const watcher of this.watchers) watcher(what);
  }

  private ended(pull: Pull, state: ImagePull['state'], message: string | null): void {
    pull.endedAtMs = this.options.nowMs();
    pull.view = { ...pull.view, state, message };
    this.tell('pulls');
  }

  /** To the end of the Engine's answer: it says at once that it begins, and what goes wrong comes inside. */
  private async follow(
    image: string,
    signal: AbortSignal,
    take: (item: unknown) => string | null,
  ): Promise<void> {
    const { engine, environment, home, silentMs = usualSilentMs } = this.options;
    const silence = (): Error => new RegistrySilent(silentMs);
    const authconfig = await loginFor(image, environment, home);
    const login = authconfig === undefined ? {} : { authconfig };
    const stream = await engine
      // Its first word comes only with the registry's.
      .ask(
        (docker) => docker.createImage({ fromImage: withTag(image), abortSignal: signal, ...login }),
        silentMs,
      )
      .catch(async (error: unknown) => {
        // An Engine that answers to others waits for the registry, and would again.
        if (error instanceof EngineSilent && (await engine.probe()).state === 'READY') throw silence();
        const refused = authconfig !== undefined && kindOf(error) === 'LOGIN_NEEDED';
        throw refused ? new LoginRefused('username' in authconfig ? authconfig.username : null) : error;
      });
    const fault: { said: string | null } = { said: null };
    await new Promise<void>((resolve, reject) => {
      const hungUp = (): void => reject(silence());
      let timer = setTimeout(hungUp, silentMs);
      const over = (end: () => void) => () => {
        clearTimeout(timer);
        end();
      };
      let text = '';
      stream.on('data', (piece: Buffer) => {
        clearTimeout(timer);
        timer = setTimeout(hungUp, silentMs);
        const rows = (text + piece.toString()).split('\n');
        text = rows.pop() ?? '';
        for (const row of rows) fault.said = take(readRow(row)) ?? fault.said;
      });
      stream.on('end', over(resolve));
      stream.on(
        'close',
        over(() => (signal.aborted ? reject(new Error('cancelled')) : resolve())),
      );
      stream.on('error', ({ message }: Error) => over(() => reject(brokenOff(message)))());
    });
    if (fault.said !== null) throw new EngineRefusal(200, readDaemonError(fault.said));
    if (signal.aborted) throw new Error('cancelled');
    // Only the image itself is proof.
    await engine.ask((docker) => docker.getImage(image).inspect());
  }
}

function readRow(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch {
    return null; // an empty row
  }
}

/** Without a tag the Engine would fetch them all. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? image : `${image}:latest`;
}

function kindOf(error: unknown): string | null {
  return error instanceof EngineRefusal ? error.reason.kind : null;
}

function troubleOf(error: unknown): PullTrouble {
  if (error instanceof RegistrySilent) return 'PASSING';
  return error instanceof EngineRefusal ? pullTroubleOf(error.reason) : 'LASTING';
}

class RegistrySilent extends Error {
  constructor(silentMs: number) {
    super(`it sent nothing for ${silentMs / 60_000} minutes`);
  }
}

/** The login that was sent is not the right one, or may not have that image. */
class LoginRefused extends Error {
  constructor(readonly user: string | null) {
    super('the login was refused');
  }
}

/** `room`: what the Engine had for its data, as it was when it was full if it was. */
function failure(image: string, error: unknown, room: DataRoom | null): Cause {
  const words = error instanceof Error ? error.message : String(error);
  const lost = error instanceof EngineUnreachable ? 'the Docker Engine was lost meanwhile: ' : '';
  const said = error instanceof EngineRefusal ? daemonSentence(error.reason) : `${lost}${words}.`;
  const registry = hostOf(registryOf(image));
  if (error instanceof LoginRefused) {
    const who = error.user === null ? 'the login' : `the login of ${error.user}`;
    const message = `The registry ${registry} refused ${who} that your Docker configuration has for it, or does not let it have ${image}. Log in anew with docker login ${registry}.`;
    return { code: 'REGISTRY_LOGIN_REFUSED', message };
  }
  switch (kindOf(error)) {
    case 'LOGIN_NEEDED': {
      const message = `The image ${image} cannot be pulled without a login to ${registry}, or there is none of that name: ${said}`;
      return { code: 'REGISTRY_LOGIN_NEEDED', message };
    }
    case 'NO_SUCH_TAG':
    case 'NO_SUCH_IMAGE':
      return { code: 'IMAGE_NOT_FOUND', message: `There is no image ${image} in its registry: ${said}` };
    case 'REGISTRY_UNREACHABLE': {
      const message = `The registry ${registry} does not answer, so ${image} was not pulled: ${said}`;
      return { code: 'REGISTRY_UNREACHABLE', message };
    }
    case 'NO_SPACE': {
      const where = room === null ? '' : ` ${roomSentence(room)}`;
      const message = `There was no room for the image ${image}: ${said}${where}`;
      return { code: 'DOCKER_STORAGE_FULL', message };
    }
    default: {
      if (troubleOf(error) === 'PASSING' && (room === null || !isFull(room))) {
        const message = `The registry ${registry} does not answer as it should, so ${image} was not pulled: ${said}`;
        return { code: 'REGISTRY_UNREACHABLE', message };
      }
      if (room === null || !isFull(room))
        return { code: 'IMAGE_UNAVAILABLE', message: `The image ${image} could not be pulled: ${said}` };
      const message = `There was no room for the image ${image}: ${said} ${roomSentence(room)} ${roomAdvice}`;
      return { code: 'DOCKER_STORAGE_FULL', message };
    }
  }
}

function refuse(error: unknown): never {
  if (error instanceof EngineRefusal) {
    const code = error.status === 404 ? 'NOT_FOUND' : 'FAILED_PRECONDITION';
    throw new RefusalError(refusal(code, error.message));
  }
  if (error instanceof EngineUnreachable)
    throw new RefusalError(refusal('UNREACHABLE', `The Docker Engine does not answer: ${error.message}.`));
  throw error;
}
