/**
 * One attempt in a container, from what is known of it to its end. Every step can be taken again: it first looks at what the note in
 * the attempt's folder and the Engine say, so a lost connection, a restarted Engine or a new host only begins it anew.
 */
import type { Cause } from '../../../../core/contract/views.js';
import type { DataRoom } from '../../../../core/formats/docker/data-room.js';
import type { ContainerView } from '../../../../core/formats/docker/inspect.js';
import type { AttemptLaunch, DesiredAttempt, LogHeard } from '../../backend.js';
import { observationOf, stopOrder, type AttemptEntry } from '../process/attempt-entry.js';
import { stopCause } from '../process/outcome.js';
import { concludeAttempt } from './attempt-conclusion.js';
import { readNote, writeNote, type AttemptEnd, type AttemptNote } from './attempt-note.js';
import { Again, Over, pauseOf, waits } from './attempt-turns.js';
import { buildContainer } from './container-build.js';
import { endOfRun, endOfSetUp, lookAtDevices, refusedEnd, unfollowed, withMemory } from './container-end.js';
import type { ContainerContext } from './container-context.js';
import type { Watched } from './container-hub.js';
import { containerName, managedLabel } from './container-plan.js';
import { ContainerStart } from './container-start.js';
import { endContainer, inGrace, keepEnded, lookAtEnd, orderNow, type EndOrder } from './container-stop.js';
import { EngineRefusal, EngineUnreachable, lookAtContainer } from './engine.js';
import { asItEnded } from './engine-memory.js';
import { warnOfRestart } from './engine-restart.js';
import { PullFailed } from './images.js';
import { PullTries } from './pull-tries.js';
import { LogCopy } from './log-copy.js';
import { logCutCode } from '../../../../core/formats/log-cut.js';
import { isFullDisk } from '../process/error-code.js';
import { logMayBeCut, logUnreadable, logWaitsForRoom } from '../process/log-storage.js';

type Part = 'run' | 'set-up';

export class ContainerAttempt {
  private copy: LogCopy | null = null;
  private ownId: string | null = null;
  private closed = false;
  private running: string | null = null;
  private stopping = false;
  private refusals = 0;
  /** Not asked for by anybody: of a card that is gone, or memory above its limit. */
  private ownEnd: EndOrder | null = null;
  /** The Engine's data had no room while it ran. */
  private full: DataRoom | null = null;
  private wake: () => void = () => undefined;
  /** Resolves when a stop is asked for. */
  private readonly stopAsked = new Promise<void>((resolve) => {
    this.wake = resolve;
  });

  private readonly pulls = new PullTries();
  private readonly starts: ContainerStart;
  constructor(
    readonly entry: AttemptEntry,
    private readonly kind: 'run' | 'keep' | 'stop',
    private readonly context: ContainerContext,
  ) {
    this.starts = new ContainerStart(entry, context);
  }

  begin(): void {
    void this.live();
  }

  stop(order: Extract<DesiredAttempt, { kind: 'stop' }>): void {
    const { entry, context } = this;
    const deadlineMs = context.monotonicMs() + order.graceMs;
    if (entry.stop !== null) {
      entry.stop.deadlineMs = Math.min(entry.stop.deadlineMs, deadlineMs);
      return;
    }
    if (entry.phase === 'ended') return;
    entry.stop = stopOrder(order, deadlineMs);
    this.wake();
    if (this.running !== null) void this.endRunning(this.running);
  }

  /** A card of it is gone: what it still does comes to nothing. */
  loseDevice(reason: string): void {
    const { entry, context } = this;
    if (entry.phase !== 'running' || entry.deviceFault !== null || entry.stop !== null) return;
    entry.deviceFault = { reason, ended: this.running !== null };
    if (this.running === null) return;
    this.ownEnd = orderNow(context.monotonicMs(), 'SIGTERM', waits.deviceGraceMs);
    void this.endRunning(this.running);
  }

  /** Where no control group holds it to its limit. */
  endOverMemory(): void {
    const { entry, context } = this;
    if (entry.phase !== 'running' || entry.overMemory || this.running === null) return;
    entry.overMemory = true;
    this.ownEnd ??= orderNow(context.monotonicMs(), 'SIGKILL', 0);
    void this.endRunning(this.running);
  }

  close(): void {
    this.closed = true;
    this.copy?.close();
  }

  private isClosed(): boolean {
    return this.closed;
  }

  private async live(): Promise<void> {
    const { entry, context } = this;
    while (!this.closed) {
      try {
        await this.go();
        return;
      } catch (error) {
        this.copy?.close();
        this.copy = null;
        this.running = null;
        context.usage.end(entry.uid);
        if (this.isClosed()) return;
        const end = await this.endBy(error);
        if (end === null) continue;
        concludeAttempt(context, entry, end, { isClosed: () => this.closed, remove: () => this.removeAll() });
        return;
      }
    }
  }

  /** What a fault means; null: go on. */
  private async endBy(error: unknown): Promise<AttemptEnd | null> {
    const { engine, log, nowMs } = this.context;
    if (error instanceof Over) return error.end;
    if (error instanceof Again) return null;
    if (error instanceof PullFailed) {
      const over = await this.pulls.after(this.context, this.entry, error, this.stopAsked);
      return over === null ? null : this.unstarted(...over);
    }
    if (error instanceof EngineRefusal) {
      // A refusal about one that runs says nothing about how it runs.
      if (this.entry.phase === 'running' && error.status >= 500 && this.refusals < waits.mostRefusals) {
        this.refusals += 1;
        await pauseOf(waits.refusalPauseMs);
        return null;
      }
      const end = refusedEnd(error, this.entry.launch?.spec ?? null, nowMs(), await engine.room.look());
      if (end.cause?.code === 'DOCKER_STORAGE_FULL') await pauseOf(waits.noSpacePauseMs);
      if (this.mayHaveRun()) await this.removeAll();
      return end;
    }
    if (!(error instanceof EngineUnreachable)) {
      const message = `The container could not be run: ${error instanceof Error ? error.message : String(error)}.`;
      log.error(message, { uid: this.entry.uid });
      if (isFullDisk(error)) await pauseOf(waits.noSpacePauseMs);
      if (this.mayHaveRun()) await this.removeAll();
      const code = isFullDisk(error) ? 'LOG_STORAGE_FULL' : 'START_FAILED';
      return this.unstarted('WORKER_FAILED', { code, message });
    }
    // An Engine that answers to some questions only is not asked again in a tight loop.
    await pauseOf(waits.againPauseMs);
    const mayHaveRun = this.mayHaveRun();
    const isReady = engine.ready(mayHaveRun ? waits.laterMs : waits.startPatienceMs);
    const goesOn = mayHaveRun ? isReady : Promise.race([isReady, this.stopAsked.then(() => true)]);
    if ((await goesOn) || mayHaveRun) return null;
    const state = engine.state();
    const message = state.message ?? `Docker does not answer: ${error.message}.`;
    return this.unstarted('WORKER_FAILED', { code: 'START_FAILED', message });
  }

  private mayHaveRun(): boolean {
    const phase = readNote(this.entry.folder)?.phase;
    return phase === 'created' || phase === 'set-up';
  }

  private async go(): Promise<void> {
    const { entry } = this;
    const note = readNote(entry.folder);
    if (note?.end !== null && note?.end !== undefined) throw new Over(note.end);
    if (note === null && this.kind !== 'run') throw new Over(this.unstarted('MISSING', null));
    this.stopIfUnstarted(note);
    if (entry.launch !== null && entry.phase === 'starting')
      this.context.reporter.progress(observationOf(entry, 'BUILDING'));
    if (note === null) writeNote(entry.folder, { phase: 'asked', containerId: null, end: null });
    const view = note === null ? null : await this.inspect('run');
    if (view === null && note?.phase === 'created') throw new Over(this.removedByHand());
    if (view === null) {
      await this.setUp(note);
      this.stopIfUnstarted(note);
      return this.watch(await this.build('run'), 'run', null);
    }
    if (view.status !== 'created') return this.watch(view.id, 'run', view);
    if (view.startError !== null)
      throw new Over(
        refusedEnd(view.startError, entry.launch?.spec ?? null, this.context.nowMs(), this.full),
      );
    if (entry.stop !== null) throw new Over(this.unstarted('KILLED', this.stoppedCause()));
    writeNote(entry.folder, { phase: 'created', containerId: view.id, end: null });
    await this.watch(view.id, 'run', null);
  }

  /** Its scripts, in a container of their own. */
  private async setUp(note: AttemptNote | null): Promise<void> {
    const { entry } = this;
    const begins = note?.phase !== 'set-up';
    // A stop without a launch sees those through that run already.
    if (begins && (this.launch().spec.setup.length === 0 || note?.phase === 'prepared')) return;
    const view = note === null ? null : await this.inspect('set-up');
    if (view === null && !begins) throw new Over(this.removedByHand());
    const begun = view !== null && (view.status !== 'created' || view.startError !== null);
    if (!begun && entry.stop !== null) throw new Over(this.unstarted('KILLED', this.stoppedCause()));
    const id = view?.id ?? (await this.build('set-up'));
    writeNote(entry.folder, { phase: 'set-up', containerId: id, end: null });
    await this.watch(id, 'set-up', begun ? view : null);
    writeNote(entry.folder, { phase: 'prepared', containerId: null, end: null });
    await this.context.remove(id);
  }

  /** The container's id, made now or before. */
  private async build(part: Part): Promise<string> {
    const { entry, context } = this;
    const built = await buildContainer(context, entry.folder, this.launch(), part, this.stopAsked);
    if (built === null) throw new Over(this.unstarted('KILLED', this.stoppedCause()));
    if ('cause' in built) {
      if (built.cause.code === 'LOG_STORAGE_FULL') await pauseOf(waits.noSpacePauseMs);
      throw new Over(this.unstarted(built.blameless === true ? 'WORKER_FAILED' : 'FAILED', built.cause));
    }
    this.pulls.came(context.reporter, entry);
    this.starts.made(built.id);
    if (part === 'run') writeNote(entry.folder, { phase: 'created', containerId: built.id, end: null });
    return built.id;
  }

  private async watch(id: string, part: Part, view: ContainerView | null): Promise<void> {
    const { entry, context } = this;
    const unwatch = context.engine.room.watch((room) => {
      this.full ??= room;
      // The Engine drops what it cannot write of its log, and tells nobody.
      if (this.copy !== null && !entry.warnings.has(logCutCode))
        context.reporter.warn(entry, logMayBeCut(entry.folder, 'while the task ran', room.path));
    });
    await this.watchToEnd(id, part, view).finally(unwatch);
  }

  /** Without a view it was made and has to be started; returns for a set-up that went well, throws what the attempt came to. */
  private async watchToEnd(id: string, part: Part, view: ContainerView | null): Promise<void> {
    const { entry, context } = this;
    // Before its start, so that no end is missed.
    const { seen, over } = context.hub.ended(id, warnOfRestart(entry, context.reporter));
    if (view === null || view.running) {
      const copy = (this.copy = this.openCopy(id, part, view));
      const before = () => (part === 'run' && this.launch().spec.setup.length > 0 ? 'prepared' : 'asked');
      const start = async () => {
        await copy.hear(true);
        await this.starts.start(id, before).catch(async (error: unknown) => {
          // Of one that began and was forgotten the Engine may have written something down.
          if (error instanceof Over) await copy.finish().catch(() => undefined);
          throw error;
        });
      };
      await (view === null ? context.slots.with(start) : copy.hear(false));
      this.begun(part, view);
      copy.follow();
      this.running = id;
      if (part === 'run') context.usage.begin(entry, id);
      if (this.order() !== null) void this.endRunning(id);
      if (view !== null) context.hub.list();
      await over;
      this.running = null;
      context.usage.end(entry.uid);
    }
    await context.engine.room.look();
    const last = await this.ended(id, part, seen);
    if (part === 'set-up') {
      const end = endOfSetUp(entry, last, seen, context.nowMs(), this.full);
      if (end !== null) throw new Over(end);
      return;
    }
    await lookAtDevices(context, entry);
    throw new Over(endOfRun(entry, last, seen, context.nowMs(), this.full));
  }

  private begun(part: Part, view: ContainerView | null): void {
    if (part === 'set-up') return;
    const { entry, context } = this;
    entry.startedAtMs ??= view?.startedAtMs ?? context.nowMs();
    entry.phase = 'running';
    context.reporter.progress(observationOf(entry, 'RUNNING'));
    context.onRunning(entry);
  }

  private async ended(id: string, part: Part, seen: Watched): Promise<ContainerView> {
    const { context, entry } = this;
    for (;;) {
      try {
        const view = await lookAtEnd(context, id, () => this.inspect(part));
        if (view === null || view.status === 'removing') throw new Over(this.removedByHand());
        this.copy ??= this.openCopy(id, part, view);
        const broken = await keepEnded(context, id, () => this.inspect(part), this.copy.finish());
        if (broken !== null) context.reporter.warn(entry, logUnreadable(entry.folder, broken));
        this.copy.close();
        this.copy = null;
        const last = await withMemory(context.reporter, entry, view, seen, () => this.inspect(part));
        return await asItEnded(context.engine, last, seen);
      } catch (error) {
        if (error instanceof EngineRefusal && (await this.isGoing(part)))
          throw new Over(this.removedByHand());
        if (!this.closed && isFullDisk(error)) {
          // The Engine keeps what is not copied yet, and how it ended.
          if (!entry.warnings.has(logCutCode)) context.reporter.warn(entry, logWaitsForRoom(entry.folder));
          await pauseOf(waits.fullDiskPauseMs);
          continue;
        }
        if (this.closed || !(error instanceof EngineUnreachable)) throw error;
        context.log.warn('The end of a container is looked at again', {
          uid: entry.uid,
          error: error.message,
        });
        await pauseOf(waits.againPauseMs);
        await context.engine.ready(waits.laterMs);
      }
    }
  }

  private async isGoing(part: Part): Promise<boolean> {
    const view = await this.inspect(part);
    return view === null || view.status === 'removing' || view.status === 'dead';
  }

  private openCopy(id: string, part: Part, view: ContainerView | null): LogCopy {
    const { entry, context } = this;
    const { uid, folder, launch } = entry;
    const tty = view?.tty ?? (part === 'run' && launch?.spec.tty === true);
    const onHeard = (heard: LogHeard | null) => context.onHeard(uid, heard);
    const onFault = (error: unknown) =>
      context.log.warn('The log of a container is read again', { uid, error: String(error) });
    return new LogCopy({ folder, container: id, tty, engine: context.engine, onHeard, onFault });
  }

  private order(): EndOrder | null {
    return this.entry.stop ?? this.ownEnd;
  }

  private async endRunning(id: string): Promise<void> {
    const { entry, context } = this;
    const order = this.order();
    if (order === null || this.stopping) return;
    this.stopping = true;
    if (entry.stop !== null && entry.stop.notice !== null)
      await inGrace(context.onNotice(entry, entry.stop.notice), entry.stop.graceMs);
    await endContainer(context, entry.folder, id, order, () => this.running === id && !this.closed);
    this.stopping = false;
  }

  private async inspect(part: Part): Promise<ContainerView | null> {
    const { engine, owner, clockSkewMs } = this.context;
    const name = containerName(this.entry.uid, part);
    const view = await lookAtContainer(engine, name, clockSkewMs());
    if (view === null) return null;
    if (part === 'run' && view.labels[managedLabel] === owner) this.ownId = view.id;
    if (view.labels[managedLabel] === owner) return view;
    const message = `A container of the name ${name} is there that is not this program's; it was left alone.`;
    throw new Over(this.unstarted('FAILED', { code: 'START_FAILED', message }));
  }

  private launch(): AttemptLaunch {
    const { launch } = this.entry;
    // A stop has none, and goes only on with what has begun.
    if (launch === null) throw new Over(this.unstarted('KILLED', this.stoppedCause()));
    return launch;
  }

  private stopIfUnstarted(note: AttemptNote | null): void {
    const begun = note !== null && (note.phase === 'created' || note.phase === 'set-up');
    if (this.entry.stop !== null && !begun) throw new Over(this.unstarted('KILLED', this.stoppedCause()));
  }

  private stoppedCause(): Cause {
    return stopCause(this.entry.stop?.reason ?? 'superseded', null, new Set());
  }

  private removedByHand(): AttemptEnd {
    return this.entry.stop === null
      ? this.unstarted('WORKER_FAILED', unfollowed(this.entry))
      : this.unstarted('KILLED', this.stoppedCause());
  }

  private unstarted(state: AttemptEnd['state'], cause: Cause | null): AttemptEnd {
    const [{ startedAtMs }, finishedAtMs] = [this.entry, this.context.nowMs()];
    const durationMs = startedAtMs === null ? null : Math.max(0, finishedAtMs - startedAtMs);
    return { state, finishedAtMs, startedAtMs, durationMs, exitCode: null, signal: null, cause };
  }

  private async removeAll(): Promise<void> {
    const { entry, context } = this;
    await context.removeOwn(containerName(entry.uid, 'run'), this.ownId);
    const noSetUp = entry.launch !== null && entry.launch.spec.setup.length === 0;
    if (!noSetUp) await context.removeOwn(containerName(entry.uid, 'set-up'));
  }
}
