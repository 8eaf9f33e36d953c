/**
 * Attempts on a machine reached by SSH. Level-triggered as the process runtime here: told the complete desired set, it has the far
 * hand start what is missing, adopt what lives and stop what shall stop. While there is no connection attempts go on, and what is
 * wanted waits; with the next connection each is looked at anew, before anything is started.
 */
import type { GpuReading } from '../../../machine/gpus.js';
import { logCutCode, logCutMessage, type LogCut } from '../../../../core/formats/log-cut.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { AttemptObservation, DesiredAttempt } from '../../backend.js';
import { lostMessage } from '../device-watch.js';
import {
  newEntry,
  observationOf,
  stopOrder,
  supersededStop,
  type AttemptEntry,
} from '../process/attempt-entry.js';
import { lastWordsIn } from '../process/last-words.js';
import { outcomeOf, rebooted, stopCause, supervisorLost } from '../process/outcome.js';
import { Reporter } from '../process/reporter.js';
import { FarStaging } from './far-staging.js';
import { claimTexts, endTexts, farRefusal, noticeText, stagedFiles, startTexts } from './far-start.js';
import { FarMemory } from './far-memory.js';
import { FarUsage } from './far-usage.js';
import { diskThere, notStartedFor, writtenOf } from './far-storage.js';
import type { FarHandEnd, RemoteAttemptsOptions } from './remote-attempts-options.js';
import type { FarWord } from './far-words.js';

const staleStuck =
  'What is left of an attempt nobody wants any more does not end, so its machine takes no tasks';

export class RemoteAttempts {
  private readonly entries = new Map<string, AttemptEntry>();
  private readonly watched = new Set<string>();
  private readonly memory = new FarMemory((entry, warning) => this.reporter.warn(entry, warning));
  private readonly usage: FarUsage;
  private readonly reporter: Reporter;
  private readonly staging = new FarStaging();
  private hand: FarHandEnd | null = null;
  private settled = false;
  private reconciled = false;
  private lostCause: Cause | null = null;

  constructor(private readonly options: RemoteAttemptsOptions) {
    this.reporter = new Reporter({ ...options, onEnded: () => undefined });
    this.usage = new FarUsage({
      monotonicMs: options.monotonicMs,
      tell: (entry) => this.reporter.progress(observationOf(entry, 'RUNNING')),
      warn: (entry, warning) => this.reporter.warn(entry, warning),
      lose: (entry, reason) => this.loseDevice(entry, reason),
      idleAfterMs: options.gpuIdleAfterMs,
    });
  }

  isSettled(): boolean {
    return this.settled;
  }

  /** Some hold cards. */
  holdsCards(): boolean {
    return this.usage.holders > 0;
  }

  /** The cards were read. */
  cardsRead(reading: GpuReading): void {
    this.usage.look(reading);
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    const wanted = new Set<string>();
    for (const item of desired) {
      const uid = item.kind === 'run' ? item.launch.uid : item.uid;
      wanted.add(uid);
      const entry = this.entries.get(uid);
      if (entry === undefined) this.take(item, uid);
      else if (entry.phase === 'ended') this.reporter.again(entry);
      else if (item.kind === 'stop') this.stop(entry, item);
    }
    for (const entry of this.entries.values()) if (!wanted.has(entry.uid)) this.unwanted(entry);
    if (this.reconciled) return;
    this.reconciled = true;
    if (this.hand !== null) this.lookAtAll();
  }

  /** A hand is there and owns the folder. */
  connected(hand: FarHandEnd): void {
    this.hand = hand;
    this.settled = false;
    this.staging.reset();
    this.lostCause = null;
    for (const uid of this.watched) hand.send('watch', uid, '1');
    if (this.reconciled) this.lookAtAll();
  }

  disconnected(): void {
    this.hand = null;
    this.settled = false;
    this.staging.reset();
  }

  /** The machine is given up: its attempts are to run elsewhere. What lives of them is stopped when it is back. */
  lost(message: string): void {
    this.lostCause = { code: 'WORKER_LOST', message };
    for (const entry of this.entries.values())
      if (entry.phase !== 'ended') this.end(entry, 'WORKER_FAILED', this.lostCause);
  }

  watch(uid: string, on: boolean): void {
    if (on === this.watched.has(uid)) return;
    if (on) this.watched.add(uid);
    else this.watched.delete(uid);
    this.hand?.send('watch', uid, on ? '1' : '0');
  }

  close(): void {
    this.usage.close();
    this.reporter.close();
    this.hand = null;
  }

  /** Each attempt that may live is looked at, each other one that does is stopped, and only then anything is started. */
  private lookAtAll(): void {
    const wanted: string[] = [];
    for (const entry of this.entries.values()) {
      if (entry.phase === 'ended') continue;
      wanted.push(entry.uid);
      if (entry.stop !== null) this.sendStop(entry);
      else if (entry.phase !== 'starting' || entry.adopted) this.sendKeep(entry);
    }
    this.hand?.send('strays', ...wanted);
  }

  private take(item: DesiredAttempt, uid: string): void {
    const entry = newEntry(uid, uid, item.kind === 'stop' ? null : item.launch);
    this.entries.set(uid, entry);
    if (this.lostCause !== null) {
      this.end(entry, 'WORKER_FAILED', this.lostCause);
      return;
    }
    entry.adopted = item.kind !== 'run';
    if (item.kind === 'run') this.sendStart(entry);
    else if (item.kind === 'stop') this.stop(entry, item);
    else this.sendKeep(entry);
  }

  private stop(entry: AttemptEntry, order: Extract<DesiredAttempt, { kind: 'stop' }>): void {
    const deadlineMs = this.options.monotonicMs() + order.graceMs;
    if (entry.stop === null) {
      entry.stop = stopOrder(order, deadlineMs);
    } else if (deadlineMs < entry.stop.deadlineMs) {
      entry.stop.deadlineMs = deadlineMs;
    } else return;
    this.sendStop(entry);
  }

  private unwanted(entry: AttemptEntry): void {
    if (entry.phase === 'ended') {
      this.entries.delete(entry.uid);
      this.memory.forget(entry.uid);
    } else if (entry.stop === null) {
      this.options.log.warn('An attempt that is not wanted is stopped', { uid: entry.uid });
      this.stop(entry, supersededStop(entry.uid, entry.launch, { container: false }));
    }
  }

  private sendKeep(entry: AttemptEntry): void {
    const { launch, uid } = entry;
    const claim = launch === null ? [] : claimTexts(launch);
    this.hand?.send('keep', uid, launch?.spec.memoryIsLimit === true ? '1' : '0', ...claim);
    this.sendEnd(entry);
  }

  /** What is to end although nobody stops it, as often as the hand may not know it yet. */
  private sendEnd(entry: AttemptEntry): void {
    const texts = endTexts(entry);
    if (texts !== null) this.hand?.send(...texts);
  }

  private sendStop(entry: AttemptEntry): void {
    const { stop } = entry;
    if (stop === null || this.hand === null) return;
    const graceMs = Math.max(0, Math.round(stop.deadlineMs - this.options.monotonicMs()));
    const told = stop.notice === null ? '' : noticeText(stop.notice, this.options.clockSkewMs());
    this.hand.send('stop', entry.uid, stop.signal.replace(/^SIG/, ''), String(graceMs), told);
  }

  /** Waits until the machine is settled. Asked again with every connection that comes before its first word. */
  private sendStart(entry: AttemptEntry): void {
    const { launch } = entry;
    if (this.hand === null || !this.settled || launch === null || entry.stop !== null) return;
    const files = stagedFiles(launch.spec.files);
    if (files === null) {
      const message = 'A staged file must have a relative path that stays inside IRIS_WORKDIR.';
      this.end(entry, 'FAILED', { code: 'STAGING_FAILED', message });
    } else if (files.length === 0) {
      this.hand.send(...startTexts(launch, this.hand.place, [], this.options.gpus()));
    } else {
      this.hand.send(...this.staging.ask(entry.uid, files));
    }
  }

  private lacks(word: FarWord): void {
    const { hand } = this;
    const asked = hand === null ? null : this.staging.answered(word, (...texts) => hand.send(...texts));
    if (asked === null || hand === null) return;
    const entry = this.entries.get(asked.uid);
    if (entry?.phase !== 'starting' || entry.stop !== null || entry.launch === null) return;
    hand.send(...startTexts(entry.launch, hand.place, asked.files, this.options.gpus()));
  }

  /** A word of the hand; those of other things are let pass. */
  word(word: FarWord): void {
    if (word.kind === 'lacks') {
      this.lacks(word);
      return;
    }
    if (word.kind === 'strays-gone') {
      this.settle();
      return;
    }
    if (word.kind === 'full') {
      this.full(word);
      return;
    }
    const uid = word.text(0);
    if (word.kind === 'size') {
      this.options.onGrew(uid, word.number(1) ?? 0, word.number(2) ?? 0);
      return;
    }
    const entry = this.entries.get(uid);
    // Superseded meanwhile: nothing it says counts any more, but nothing new starts before it is gone.
    if (entry === undefined || entry.phase === 'ended') {
      if (word.kind === 'stuck') this.options.log.warn(staleStuck, { uid, processes: word.text(1) });
      return;
    }
    switch (word.kind) {
      case 'started':
      case 'running':
        this.runs(entry, word.number(1) ?? 0, this.here(word.number(2)));
        return;
      case 'missing':
      case 'fenced':
        this.neverStarted(entry);
        return;
      case 'unfilled':
        this.end(entry, 'WORKER_FAILED', notStartedFor(word.text(1)));
        return;
      case 'fault':
        this.refused(entry, word);
        return;
      case 'memory':
        if (this.memory.isOver(entry, word.number(1) ?? 0)) this.sendEnd(entry);
        return;
      case 'usage':
        this.usage.take(entry, word);
        return;
      case 'checkpoint':
        if (this.checkpoint(entry, word.number(1))) this.reporter.progress(observationOf(entry, 'RUNNING'));
        return;
      case 'stuck': {
        const message = `Processes do not end although they were killed: ${word.text(1)}.`;
        this.reporter.warn(entry, { code: 'PROCESSES_REMAIN', message });
        return;
      }
      case 'gone':
        this.gone(entry, word);
    }
  }

  private settle(): void {
    if (this.settled || this.hand === null) return;
    this.settled = true;
    for (const entry of this.entries.values())
      if (entry.phase === 'starting' && !entry.adopted) this.sendStart(entry);
    this.options.onSettled();
  }

  /** By this machine's clock. */
  private here(theirs: number | null): number | null {
    return theirs === null ? null : Math.round(theirs - this.options.clockSkewMs());
  }

  private runs(entry: AttemptEntry, pid: number, startedAtMs: number | null): void {
    entry.supervisor ??= { bootId: '-', pid, startTicks: null };
    entry.startedAtMs ??= startedAtMs;
    entry.phase = 'running';
    this.usage.begins(entry, this.options.cards());
    this.reporter.progress(observationOf(entry, 'RUNNING'));
  }

  /** What it still does comes to nothing. */
  private loseDevice(entry: AttemptEntry, reason: string): void {
    if (entry.phase !== 'running' || entry.deviceFault !== null) return;
    entry.deviceFault = { reason, ended: true };
    this.sendEnd(entry);
  }

  private neverStarted(entry: AttemptEntry): void {
    if (entry.stop !== null && entry.launch !== null && !entry.adopted)
      this.end(entry, 'KILLED', stopCause(entry.stop.reason, null, new Set()));
    else this.end(entry, 'MISSING', null);
  }

  private refused(entry: AttemptEntry, word: FarWord): void {
    if (entry.launch === null || this.hand === null) return;
    const { cause, exitCode, fault } = farRefusal(word, entry.launch, this.hand.place);
    this.end(entry, fault ? 'FAILED' : 'WORKER_FAILED', cause, { exitCode });
  }

  private end(
    entry: AttemptEntry,
    state: AttemptObservation['state'],
    cause: Cause | null,
    more: Partial<AttemptObservation> = {},
  ): void {
    const finishedAtMs = this.options.nowMs();
    this.usage.conclude(entry);
    this.reporter.last(entry, observationOf(entry, state, { finishedAtMs, cause, ...more }));
  }

  private checkpoint(entry: AttemptEntry, theirs: number | null): boolean {
    const at = this.here(theirs);
    if (at === null) return false;
    // A time to come would say that nothing is ever lost.
    const seen = Math.min(at, this.options.nowMs());
    if (entry.checkpointAtMs !== null && seen <= entry.checkpointAtMs) return false;
    entry.checkpointAtMs = seen;
    return true;
  }

  /** gone UID CLAIM STATUS CODE WAITED REBOOTED BEGAN ENDED TOOK SIGNALS CHECKPOINT OUT ERR FULL ERR-END OUT-END */
  private gone(entry: AttemptEntry, word: FarWord): void {
    const devices = entry.launch?.devices ?? [];
    const failed = entry.stop === null && word.text(3) !== '0' && entry.deviceFault === null;
    if (devices.length === 0 || !failed) {
      this.conclude(entry, word);
      return;
    }
    // It may have failed because a card of it did.
    entry.phase = 'ending';
    void this.options.lookAtCards().then(() => {
      if (entry.phase !== 'ending' || this.entries.get(entry.uid) !== entry) return;
      const sick = this.options.cards().find(({ uuid, state }) => state === 'SICK' && devices.includes(uuid));
      if (sick !== undefined) entry.deviceFault = { reason: lostMessage(sick), ended: false };
      this.conclude(entry, word);
    });
  }

  private conclude(entry: AttemptEntry, word: FarWord): void {
    const claimed = word.text(1) === 'claimed';
    const kind = word.text(2) === 'timeout' ? 'timeout' : 'exit';
    const waited = word.number(4);
    // When its line could not be written, the supervisor's own exit code tells the same.
    const code = word.text(2) !== '' ? word.number(3) : claimed ? waited : null;
    entry.startedAtMs ??= this.here(word.number(6));
    const finishedAtMs = Math.max(entry.startedAtMs ?? 0, this.here(word.number(7)) ?? this.options.nowMs());
    for (const signal of word.text(9).split(',')) if (signal !== '') entry.stop?.signals.add(signal);
    this.checkpoint(entry, word.number(10));
    const spec = entry.launch?.spec;
    const full = word.text(13);
    const written = writtenOf(word, 11);
    if (full !== '' && word.text(2) !== '') this.mayBeCut(entry, full, 'when the task ended', written);
    const lost = word.text(5) === '1' ? rebooted : supervisorLost;
    const outcome = outcomeOf({
      code,
      timedOut: kind === 'timeout',
      stop: entry.stop !== null && entry.stop.signals.size > 0 ? entry.stop : null,
      memory:
        entry.overMemory && spec !== undefined ? { limitBytes: spec.memoryBytes, measured: true } : null,
      timeLimitMs: spec?.timeoutMs ?? null,
      deviceFault: entry.deviceFault,
      fullDisk: full === '' ? null : diskThere(this.hand?.place, entry.uid, full),
      words: code === 0 ? null : lastWordsIn(word.bytes(14), word.bytes(15)),
      program: spec?.command[0] ?? 'The command',
      otherwise: claimed ? lost : notStartedFor(full),
    });
    this.end(entry, outcome.state, outcome.cause, {
      finishedAtMs,
      durationMs: word.number(8) ?? (entry.startedAtMs === null ? null : finishedAtMs - entry.startedAtMs),
      exitCode: outcome.exitCode,
      signal: outcome.signal,
    });
    if (this.watched.has(entry.uid)) this.options.onGrew(entry.uid, written.out, written.err);
  }

  /** full WHY, then attempts with the sizes of their logs. */
  private full(word: FarWord): void {
    for (let index = 1; index + 2 < word.count; index += 3) {
      const entry = this.entries.get(word.text(index));
      if (entry?.phase === 'running')
        this.mayBeCut(entry, word.text(0), 'while the task ran', writtenOf(word, index + 1));
    }
  }

  private mayBeCut(entry: AttemptEntry, why: string, when: string, written: LogCut): void {
    if (entry.warnings.has(logCutCode)) return;
    const message = logCutMessage(diskThere(this.hand?.place, entry.uid, why), when, written);
    this.reporter.warn(entry, { code: logCutCode, message });
  }
}
