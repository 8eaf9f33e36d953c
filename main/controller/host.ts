/**
 * Wires one controller and everything it stands on, in order, each step with its disposer. Used by the desktop's worker thread and
 * by the headless host alike.
 */
import { defaultLimitOf } from './placement.js';
import { queueView } from './queue-view.js';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { contractVersion } from '../../core/contract/api.js';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { HostFrame } from '../../core/contract/protocol.js';
import type { HostStatus, Overview } from '../../core/contract/views.js';
import { budgetViews } from '../../core/model/budgets.js';
import { fadingOf } from '../../core/model/use.js';
import type { Backend } from '../backends/backend.js';
import { defaultClaimsFolder } from '../backends/workstation/claims/claims-folder.js';
import { AskDesk } from '../backends/workstation/ssh/ask-desk.js';
import { madeSocketFolder } from '../backends/workstation/ssh/ssh-command.js';
import { createSshFleet } from '../backends/workstation/ssh-fleet.js';
import { awakeClock } from './awake-clock.js';
import { createWorkstationBackend } from '../backends/workstation/workstation-backend.js';
import type { LogFrame } from '../logs/log-answer.js';
import { prepareHome, rawMachineId, type Home } from '../home.js';
import { networkFileSystem } from '../machine/file-system.js';
import { ownProcess } from '../machine/process-identity.js';
import { ownName } from '../machine/users.js';
import { builtModule } from '../modules.js';
import { listenOnSocket } from '../server/socket-server.js';
import { acquireOwnerLock, readOwner } from '../store/owner-lock.js';
import { copyInThread } from '../store/copy-snapshot.js';
import { openReader } from '../store/reader.js';
import { openReads } from '../store/reads.js';
import { openStore } from '../store/store.js';
import { Controller } from './controller.js';
import type { BackendPatience } from './guarded-backend.js';
import { DailyCopy } from './daily-copy.js';
import { createHandlers } from './handlers.js';
import { storeHere } from './here-named.js';
import { HostRecord } from './host-record.js';
import { ImageWatch } from './image-watch.js';
import { startHousekeeping } from './housekeeping.js';
import { lingeringWarning } from './lingering.js';
import { createFileLogger, describeError } from './logger.js';
import { followMachines, MachineService, type MachineFleet } from './machine-service.js';
import { machineViews } from './machines.js';
import { publishForgotten } from './publish-changes.js';
import { Publisher } from './publisher.js';
import { openSession, type Session } from './session.js';
import { randomHex } from './random-hex.js';
import { treesWaitedFor } from './waited-for.js';
import type { WakeTarget } from './wake.js';

export interface HostOptions {
  readonly home: Home;
  readonly hostKind: 'desktop' | 'headless';
  readonly appVersion: string;
  readonly runtime: string;
  /** The name of the network file system a path lies on, null when it is local; asked of the system unless given. */
  readonly networkFileSystem?: (path: string) => string | null;
  /** The workstation's own unless given. */
  readonly makeBackend?: () => Backend;
  /** The machines behind that backend beside its own; those reached by SSH unless it is given. */
  readonly fleet?: MachineFleet;
  /** Where packets that wake machines go; to all on this machine's networks unless told. */
  readonly wakeTargets?: readonly WakeTarget[];
  readonly backendPatience?: BackendPatience;
}

export interface Host {
  openSession(transport: { send(frame: HostFrame | LogFrame): void; close(): void }): Session;
  /** Orderly end after the last commit; attempts go on. */
  stop(reason: string): Promise<void>;
  /** Resolves with the reason when the host has stopped. */
  readonly stopped: Promise<string>;
}

interface Step {
  readonly name: string;
  dispose(): void | Promise<void>;
}

/**
 * Under the desktop the reader's thread starts so much later: until then the window starts too, and the thread would take a good part
 * of a processor from it.
 */
const readerAfterMs = 2000;
/** Shutdown goes on without a step that takes longer. */
const disposeDeadlineMs = 5000;

/** Rejects with a RefusalError (FOLDER_OWNED, FOLDER_UNUSABLE, DATABASE_NEWER ...) and leaves nothing open. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { home } = options;
  const nowMs = () => Date.now();
  const clock = awakeClock();
  const monotonicMs = clock.nowMs;
  const startedAtMs = nowMs();
  const steps: Step[] = [];

  const fileSystem = (options.networkFileSystem ?? networkFileSystem)(home.root);
  if (fileSystem !== null) {
    throw new RefusalError(
      refusal(
        'FOLDER_UNUSABLE',
        `The data folder ${home.root} is on a network file system (${fileSystem}), where a database and a socket are not safe. Name a local one, such as /var/tmp/iris-desktop-${ownName()}, with --home or IRIS_DESKTOP_HOME.`,
      ),
    );
  }
  prepareHome(home);
  const logger = createFileLogger(home.logs, `host-${options.hostKind}`, nowMs);
  const user = localUser();

  async function unwind(): Promise<void> {
    clock.close();
    for (const step of steps.splice(0).reverse()) {
      const late = deadline(disposeDeadlineMs);
      try {
        const done = await Promise.race([Promise.resolve(step.dispose()).then(() => true), late.reached]);
        if (!done)
          logger.error(`Ending '${step.name}' took longer than ${disposeDeadlineMs} ms; going on without it`);
      } catch (error) {
        logger.error(`Ending '${step.name}' failed`, describeError(error));
      } finally {
        late.cancel();
      }
    }
  }

  try {
    const before = readOwner(home.folder);
    const lock = acquireOwnerLock(home.folder, {
      ...ownProcess(),
      host: options.hostKind,
      version: options.appVersion,
    });
    steps.push({ name: 'owner lock', dispose: () => lock.release() });

    const store = openStore({ path: home.database, nowMs, log: logger, appVersion: options.appVersion });
    steps.push({ name: 'store', dispose: () => store.close() });

    const workerFile = pathToFileURL(builtModule('reader-worker'));
    const reads = openReader({
      workerFile,
      path: home.database,
      log: logger,
      ...(options.hostKind === 'desktop'
        ? {
            later: {
              afterMs: readerAfterMs,
              reads: () => openReads({ path: home.database, nowMs, log: logger }),
            },
          }
        : {}),
    });
    steps.push({ name: 'reader', dispose: () => reads.close() });

    const local =
      options.makeBackend?.() ??
      createWorkstationBackend({
        attemptsFolder: home.attempts,
        dataFolder: home.root,
        socketFolders: () => [path.dirname(home.socket), ...madeSocketFolder(home.machines)],
        launcherFile: builtModule('launcher'),
        claimsFolder: defaultClaimsFolder(process.env),
        log: logger,
        nowMs,
        monotonicMs,
      });
    const desk = new AskDesk({
      nowMs,
      helperFile: () => builtModule('askpass'),
      onChange: () => publisher.questionsChanged(),
    });
    steps.push({ name: 'questions', dispose: () => desk.close() });
    const ssh =
      options.makeBackend === undefined
        ? createSshFleet({
            local,
            home: home.machines,
            log: logger,
            nowMs,
            monotonicMs,
            desk,
            workerOf: async (uid) => (await reads.attemptByUid(uid))?.attempt.workerId ?? null,
          })
        : null;
    const fleet = options.fleet ?? ssh?.machines ?? null;
    const record = new HostRecord({
      nowMs,
      host: options.hostKind,
      version: options.appVersion,
      pid: process.pid,
      // Who ends in order takes his name away.
      afterUncleanEnd: before !== null,
    });
    const controller = new Controller({
      store: options.makeBackend === undefined ? storeHere(store, os.hostname()) : store,
      record,
      backend: ssh?.backend ?? local,
      ...(options.backendPatience === undefined ? {} : { backendPatience: options.backendPatience }),
      logger,
      nowMs,
      monotonicMs,
      random: randomHex,
      homeRoot: home.root,
      advertiseHost: os.hostname(),
      machinesChanged: (changed) => {
        if (fleet !== null) followMachines(fleet, changed, logger);
      },
    });
    const { backend } = controller;
    steps.push({ name: 'backend', dispose: () => backend.close() });

    const dailyCopy = new DailyCopy({
      path: home.database,
      copy: (to, signal) => copyInThread({ path: home.database, workerFile, signal }, to),
      logger,
      nowMs,
      onDamage: () => publisher.statusChanged(),
    });
    const warning = await lingeringWarning(user);
    const status = (): HostStatus => ({
      contractVersion,
      appVersion: options.appVersion,
      host: options.hostKind,
      runtime: options.runtime,
      pid: process.pid,
      startedAtMs,
      home: home.root,
      user,
      clusterName: 'local',
      ...health(controller.health(), dailyCopy.damage),
      counts: controller.views.counts(),
      pragmas: { ...store.pragmas },
    });
    const machines = () => machineViews(backend.observe(), controller.memory);
    const machineService = new MachineService({
      controller,
      backend,
      fleet,
      machines,
      identity: rawMachineId(),
      wakeTargets: options.wakeTargets,
    });
    const overview = async (): Promise<Overview> => ({
      machines: machines(),
      counts: controller.views.counts(),
      running: [...controller.views.running(20)],
      waiting: [...controller.views.waiting(20)],
      recent: [...(await reads.recentlyFinished(10))],
    });

    const budgets = (users: readonly string[]) =>
      budgetViews(controller.memory, defaultLimitOf(backend.observe()), users, Date.now());
    const halfLifeMs = () => fadingOf(controller.memory)?.halfLifeMs ?? null;

    const queue = () => queueView(controller.memory, controller.placement, Date.now());

    const imageWatch = new ImageWatch(backend, () => publisher.imagesChanged());
    const publisher = new Publisher(
      {
        counts: () => controller.views.counts(),
        summary: (jobId) => controller.views.summaryOf(jobId),
        status,
        overview,
        budgets: () => ({ halfLifeMs: halfLifeMs(), budgets: budgets([user]) }),
        queue,
        job: async (jobId) => {
          const live = controller.views.job(jobId);
          if (live !== null) return live;
          const [summary] = await reads.summaries([jobId]);
          if (summary === undefined)
            throw new RefusalError(refusal('NOT_FOUND', `There is no job ${jobId}.`));
          return { summary, tasks: [...(await reads.taskList(jobId, 0, 500)).rows] };
        },
        log: async (uid) => {
          const record = await reads.attemptByUid(uid);
          if (record === null) throw new RefusalError(refusal('NOT_FOUND', `There is no attempt ${uid}.`));
          const [out, err] = await Promise.all([
            backend.readLog(uid, 'out', 0, 0),
            backend.readLog(uid, 'err', 0, 0),
          ]);
          return { outSize: out.size, errSize: err.size, complete: record.attempt.finishedAtMs !== null };
        },
        images: () => imageWatch.news(),
        machinesSeen: () => imageWatch.machinesChanged(),
        question: (address) => desk.open(address === '' ? null : address),
        unread: async () => (await reads.inbox(null, 1)).unread,
        interest: (kind, key, wanted) => {
          if (kind === 'overview') backend.watchWorkers(wanted);
          else if (kind === 'images') imageWatch.listen(wanted);
          else if (kind === 'questions') desk.listen(key === '' ? null : key, wanted);
          else backend.watchLog(key, wanted);
        },
      },
      monotonicMs,
      (error) => logger.error('A topic could not be published', describeError(error)),
    );
    controller.publishTo(publisher);

    let resolveStopped: (reason: string) => void = () => undefined;
    const stopped = new Promise<string>((resolve) => {
      resolveStopped = resolve;
    });
    let stopping: Promise<void> | null = null;
    let stopReason = 'it could not start';
    const stop = (reason: string): Promise<void> => {
      stopping ??= (async () => {
        logger.info('Stopping', { reason });
        stopReason = reason;
        publisher.close(refusal('UNAVAILABLE', `The controller is stopping: ${reason}.`));
        await unwind();
        resolveStopped(reason);
      })();
      return stopping;
    };

    const handlers = createHandlers({
      controller,
      reads,
      backend,
      status,
      machines,
      machineService,
      desk,
      overview,
      budgets,
      halfLifeMs,
      queue,
      // The answer leaves before the host goes.
      stop: (reason) => setImmediate(() => void stop(reason)),
      warnings: () => (warning === null ? [] : [warning]),
    });
    const open: Host['openSession'] = (transport) =>
      openSession({ handlers, publisher, identity: { user, mayManage: true }, logger, ...transport });

    await controller.start();
    ssh?.machines.resume();
    steps.push({ name: 'removals', dispose: () => ssh?.machines.close() });
    steps.push({
      name: 'controller',
      dispose: () => {
        record.ends(stopReason);
        controller.stop();
      },
    });
    const housekeeping = startHousekeeping({
      store,
      attemptsFolder: home.attempts,
      logger,
      nowMs,
      monotonicMs,
      busy: () => controller.busy(),
      waitedFor: () => treesWaitedFor(controller.memory),
      forgotten: (jobIds) => publishForgotten(publisher, controller.views, jobIds),
      // Nothing is read by that, and the counts are told.
      anHourPassed: () => void controller.markInboxRead([]),
      copy: dailyCopy,
    });
    steps.push({ name: 'housekeeping', dispose: () => housekeeping.stop() });
    const socket = await listenOnSocket(home.socket, open);
    steps.push({ name: 'socket', dispose: () => socket.close() });
    logger.info('Started', { pid: process.pid, runtime: options.runtime, version: options.appVersion });

    return { openSession: open, stop, stopped };
  } catch (error) {
    await unwind();
    throw error;
  }
}

/** What keeps it from working counts first. */
function health(
  found: ReturnType<Controller['health']>,
  damage: string | null,
): ReturnType<Controller['health']> {
  return found.healthy && damage !== null ? { healthy: false, health: damage } : found;
}

/** The operating system's user: owner of this folder and first part of job names. */
function localUser(): string {
  const name = ownName()
    .replaceAll(/[/\p{Cc}]/gu, '-')
    .trim();
  return name === '' ? `uid-${process.getuid?.() ?? 0}` : name;
}

function deadline(ms: number): { readonly reached: Promise<false>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  return { reached, cancel: () => clearTimeout(timer) };
}
