/**
 * One other machine by SSH as a backend of one worker.
 *
 * For whoever wires it: one per machine, all with the same `home` (a folder of the controller's own, 0700, for accepted host keys and
 * what is remembered of machines). `checkMachine` of check-machine.ts looks at an address first and writes an accepted key there. The machine connects by itself after
 * `start`, which returns at once; `retry` tries at once; `forget` is for one that is removed for good, after `close`.
 */
import { randomInt } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import type { History } from '../../../../core/contract/machines.js';
import type { GpuReading } from '../../../machine/gpus.js';
import { LoadHistory } from '../../../machine/history.js';
import type {
  AttemptObservation,
  Backend,
  BackendListener,
  DesiredAttempt,
  ImageControl,
  LogMark,
  LogRange,
  WorkerObservation,
} from '../../backend.js';
import { figuresOf, statesOf } from '../worker-watch.js';
import supervisorText from '../process/supervisor.sh?raw';
import { parseSshAddress, type SshAddress } from './address.js';
import { ContactState, usualLimits } from './contact-state.js';
import { FarCards } from './far-cards.js';
import { FarConnection } from './far-connection.js';
import { FarDocker, isContainer } from './far-docker.js';
import { FarFiles } from './far-files.js';
import { disksOf, dockerOf, FarMachine, SampleTimes, helloOf, type FarHello } from './far-machine.js';
import { folderUnusable, foreignIdentity, infeasibleOn, observationOf } from './far-observation.js';
import { FarReads } from './far-reads.js';
import { forgetOld } from './far-retention.js';
import { setupTexts } from './far-setup.js';
import type { FarWord } from './far-words.js';
import { LoginTries } from './login-tries.js';
import { forgetMachine, loadFile, recallFacts, rememberFacts } from './machine-memory.js';
import { RemoteAttempts } from './remote-attempts.js';
import type { SshFailure } from './ssh-failure.js';
import type { SshMachine, SshMachineOptions } from './ssh-machine-options.js';
import { supervisorName } from './supervisor-name.js';

const lookEveryMs = 1000;

export function createSshMachine(options: SshMachineOptions): SshMachine {
  return new OneMachine(options);
}

class OneMachine implements SshMachine {
  private readonly address: SshAddress;
  private readonly contact: ContactState;
  private readonly attempts: RemoteAttempts;
  private readonly reads: FarReads;
  private readonly files: FarFiles;
  private readonly docker: FarDocker;
  private readonly cards: FarCards;
  private readonly machine: FarMachine;
  private readonly load: LoadHistory;
  private listener: BackendListener | null = null;
  private hello: FarHello | null = null;
  private facts;
  private clockSkewMs: number | null = null;
  private lost = false;
  private closed = false;
  private looked = false;
  private folder = '';
  private readonly connection: FarConnection;
  private lookTimer: NodeJS.Timeout | null = null;
  private sampledAtMs: number;
  private readonly times = new SampleTimes();
  private readonly tries = new LoginTries();

  constructor(private readonly options: SshMachineOptions) {
    const { nowMs, monotonicMs, log } = options;
    this.address = parseSshAddress(options.address);
    this.contact = new ContactState({ ...usualLimits, ...options.limits }, nowMs(), monotonicMs());
    this.load = new LoadHistory(loadFile(options.home, options.name));
    this.facts = recallFacts(options.home, options.name);
    this.sampledAtMs = nowMs();
    this.machine = new FarMachine(options.name);
    this.reads = new FarReads(options.name);
    this.files = new FarFiles(options.name);
    this.cards = new FarCards({
      ...options,
      loopMs: options.gpuLoopMs,
      onReading: (reading, whole) => this.cardsRead(reading, whole),
    });
    this.connection = new FarConnection({
      ...options,
      address: this.address,
      mayAsk: () => this.tries.mayAsk,
      onWord: (word) => this.word(word),
      onContact: (skewMs) => this.heard(skewMs),
      onLost: (failure) => this.failed(failure),
    });
    const reports = {
      log,
      nowMs,
      monotonicMs,
      gpuIdleAfterMs: options.gpuIdleAfterMs,
      clockSkewMs: () => this.clockSkewMs ?? 0,
      onObservations: (batch: readonly AttemptObservation[]) => this.listener?.observations(batch),
      onGrew: (...growth: Parameters<BackendListener['logGrew']>) => this.listener?.logGrew(...growth),
    };
    this.attempts = new RemoteAttempts({
      ...reports,
      gpus: () => this.machine.gpus(),
      cards: () => this.machine.cards(),
      lookAtCards: () => this.cards.look(),
      onSettled: () => this.tell(),
    });
    this.docker = new FarDocker({
      ...options,
      ...reports,
      files: this.files,
      seen: () => this.machine.docker,
      connect: (listening) => this.connect(listening),
      isConnected: () => this.folder !== '',
      cards: () => this.machine.cards(),
      onState: () => this.tell(),
    });
  }

  describe(): ReturnType<Backend['describe']> {
    return { id: this.options.name, kind: 'workstation', capabilities: ['worker-fleet', 'logs'] };
  }

  start(listener: BackendListener): Promise<void> {
    this.listener = listener;
    this.lookTimer ??= setInterval(() => this.look(), lookEveryMs).unref();
    this.connection.now();
    return Promise.resolve();
  }

  observe(): readonly WorkerObservation[] {
    const { machine, facts, lost, clockSkewMs, sampledAtMs, address } = this;
    const settled = this.attempts.isSettled() && this.docker.isSettled();
    const ready = this.connection.isOpen && machine.complete && settled;
    return [
      observationOf({
        name: this.options.name,
        address,
        facts,
        machine,
        ready,
        lost,
        contact: this.contact.view(),
        clockSkewMs,
        sampledAtMs,
        docker: this.docker.state(),
      }),
    ];
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    if (this.closed) return;
    this.attempts.reconcile(desired.filter((item) => !isContainer(item)));
    this.docker.reconcile(desired.filter(isContainer));
  }

  feasible(spec: JobSpec): string | null {
    return this.facts === null
      ? `${this.options.name} has never been in contact, so what it has is not known.`
      : infeasibleOn(this.options.name, spec, this.observe());
  }

  readLog(uid: string, stream: 'out' | 'err', offset: number, maxBytes: number): Promise<LogRange> {
    return this.docker.has(uid)
      ? this.docker.readLog(uid, stream, offset, maxBytes)
      : this.reads.read(uid, stream, offset, maxBytes);
  }

  async logMarks(uid: string): Promise<readonly LogMark[]> {
    return this.docker.has(uid) ? this.docker.logMarks(uid) : this.reads.marks(uid, this.clockSkewMs ?? 0);
  }

  watchLog(uid: string, on: boolean): void {
    this.attempts.watch(uid, on);
    this.docker.watch(uid, on);
  }

  watchWorkers(on: boolean): void {
    if (this.looked === on) return;
    this.looked = on;
    if (on) {
      this.sample();
      this.contact.hurry();
    }
  }

  images(): ImageControl | null {
    return this.docker.images();
  }

  history(_workerId: string, sinceMs: number): History {
    return this.load.since(sinceMs);
  }

  releaseGpu(_workerId: string, uuid: string): boolean {
    return this.cards.release(uuid);
  }

  hasFolder(_workerId: string, folder: string): Promise<boolean | null> {
    return this.files.hasFolder(folder);
  }

  retry(): Promise<SshFailure | null> {
    this.contact.hurry();
    if (this.folder !== '') return Promise.resolve(null);
    const end = this.tries.byHand(this.connection.isBusy);
    this.connection.now();
    return end;
  }

  listenedTo(): void {
    if (this.tries.waitsForListener) this.connection.now();
  }

  connect(listening: boolean): Duplex {
    return this.connection.dockerStream(listening);
  }

  forget(): void {
    forgetMachine(this.options.home, this.options.name);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.listener = null;
    this.tries.close(this.options.name);
    if (this.lookTimer !== null) clearInterval(this.lookTimer);
    this.attempts.close();
    this.cards.close();
    for (const part of [this.reads, this.files]) part.disconnected();
    this.load.save();
    await Promise.all([this.docker.close(), this.connection.close()]);
  }

  private word(word: FarWord): void {
    if (this.closed) return;
    switch (word.kind) {
      case 'hello':
        this.greeted(helloOf(word));
        return;
      case 'ready':
        this.ready(word.text(0));
        return;
      case 'unusable':
        this.refuse(folderUnusable(word.text(1)));
        return;
      case 'range':
        this.reads.word(word);
        return;
      case 'old':
        void forgetOld(word, this.options, (...texts) => this.connection.send(...texts));
        return;
      case 'sample':
        this.machine.sample(word);
        this.sampledAtMs = this.options.nowMs();
        this.record();
        this.tell();
        return;
      case 'disks':
        this.machine.disks = disksOf(word.text(1), this.folder, this.hello?.home ?? '/');
        return;
      case 'tool':
      case 'loop':
      case 'loop-end':
      case 'kernel':
        this.cards.word(word);
        return;
      case 'claims':
        if (this.machine.claimsSeen(word))
          this.options.log.warn(this.machine.whyUnclaimable() ?? '', { machine: this.options.name });
        this.tell();
        return;
      case 'docker':
        this.machine.docker = dockerOf(word.text(0), word.text(1));
        if (this.hello !== null) this.docker.ready(this.hello, this.folder);
        this.tell();
        return;
      default:
        if (!this.files.word(word) && !this.docker.word(word)) this.attempts.word(word);
    }
  }

  private greeted(hello: FarHello): void {
    const { name, home } = this.options;
    const before = this.facts;
    const expected = this.options.identity ?? before?.machineId ?? null;
    const foreign = foreignIdentity(name, this.address, expected, hello.facts);
    if (foreign !== null) {
      this.refuse(foreign);
      return;
    }
    this.hello = hello;
    this.facts = hello.facts;
    rememberFacts(this.options, hello.facts);
    if (before !== null && before.bootId !== hello.facts.bootId)
      this.options.log.info('A machine was started anew', { machine: name });
    this.connection.send(...setupTexts(home, hello.facts, this.options.claimsFolder));
  }

  private ready(folder: string): void {
    const { connection, hello } = this;
    if (hello === null) return;
    this.folder = folder;
    this.lost = false;
    this.machine.connected();
    this.heard(this.clockSkewMs);
    const send: FarConnection['send'] = (...texts) => connection.send(...texts);
    for (const part of [this.reads, this.files]) part.connected(send);
    this.docker.connected();
    this.cards.connected(send, hello.facts);
    send('kernel');
    this.tries.connected();
    this.times.reset();
    this.sample();
    this.attempts.connected({
      send,
      place: {
        folder,
        supervisor: `${folder}/${supervisorName(supervisorText)}`,
        umask: hello.umask,
        searchPath: hello.searchPath,
        unbuffered: hello.unbuffered,
      },
    });
    this.options.log.info('A machine is connected', { machine: this.options.name });
    this.tell();
  }

  private heard(skewMs: number | null): void {
    // Before the folder is ours it is no use that somebody answers.
    this.clockSkewMs = skewMs ?? this.clockSkewMs;
    if (this.folder === '') return;
    const was = this.contact.view().state;
    this.contact.heard(this.options.nowMs(), this.options.monotonicMs());
    if (was !== 'CONNECTED') this.tell();
  }

  /** It answers, and is not to be used as it is. */
  private refuse(failure: SshFailure): void {
    this.connection.drop();
    this.failed(failure);
  }

  private failed(failure: SshFailure): void {
    this.hello = null;
    this.folder = '';
    for (const part of [this.attempts, this.reads, this.files, this.cards]) part.disconnected();
    if (this.closed) return;
    const { log, name, nowMs } = this.options;
    const isNews = this.contact.failed(failure, nowMs(), this.tries.mayAsk);
    // A machine that is off is a state: it is said once.
    if (isNews) log.warn('A machine is not in contact', { machine: name, why: failure.message });
    const waitMs = this.contact.nextRetryMs(randomInt(1000) / 1000);
    this.connection.later(this.tries.failed(failure) ? 0 : waitMs);
    this.tell();
  }

  private look(): void {
    if (this.contact.isLost(this.options.monotonicMs()) && !this.lost) {
      this.lost = true;
      const { name, log } = this.options;
      const why = this.contact.view().message ?? '';
      log.warn('A machine counts as lost; its tasks are to run elsewhere', { machine: name, why });
      for (const part of [this.attempts, this.docker]) part.lost(`The machine ${name} was lost: ${why}`);
      this.tell();
    }
    this.sample();
  }

  private sample(): void {
    if (this.folder === '') return;
    for (const word of this.times.due(this.options.monotonicMs(), this.looked)) this.connection.send(word);
    this.cards.tick(this.looked || this.attempts.holdsCards() || this.docker.holdsCards());
  }

  private record(): void {
    // Before its first sample all of its memory would look used.
    if (this.machine.memoryAvailableBytes === 0) return;
    for (const worker of this.observe()) this.load.add(this.options.nowMs(), figuresOf(worker));
  }

  /** Told at once only when it matters for who gets a card. */
  private cardsRead(reading: GpuReading, whole: boolean): void {
    const before = statesOf({ gpus: this.machine.cards() });
    this.machine.cardsSeen(reading);
    for (const part of [this.attempts, this.docker]) part.cardsRead(reading);
    if (whole || statesOf(reading) !== before) this.tell();
    else if (!this.looked) this.record();
  }

  private tell(): void {
    this.listener?.workers(this.observe());
  }
}
