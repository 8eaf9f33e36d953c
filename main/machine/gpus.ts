/**
 * The graphics cards of this machine, through nvidia-smi: a look at everything now and then, and between looks one long-lived call
 * that tells what moves. One card in trouble hides no other.
 */
import os from 'node:os';
import type { GpuView } from '../../core/contract/gpus.js';
import type { NvidiaCard } from '../../core/formats/nvidia-smi/card.js';
import {
  cardColumns,
  cardsOfQuery,
  parseComputeApps,
  processColumns,
  type NvidiaSample,
} from '../../core/formats/nvidia-smi/csv.js';
import { lostCardOf } from '../../core/formats/nvidia-smi/failures.js';
import { readNvidiaSmi } from '../../core/formats/nvidia-smi/read.js';
import { parseTopology, type CardTopology } from '../../core/formats/nvidia-smi/topology.js';
import { isCutShort } from '../../core/formats/nvidia-smi/xml.js';
import { absentReading, displayVendors } from './gpu-absence.js';
import { GpuHealth } from './gpu-health.js';
import { GpuLoop } from './gpu-loop.js';
import { askOneByOne, byBus, lostCard, troubleNote } from './gpu-one-by-one.js';
import { measuredNow, silentView, viewsOf } from './gpu-views.js';
import { KernelLog, type ErrorLog } from './kernel-log.js';
import { NvidiaTool, type CardsTool } from './nvidia-tool.js';
import { createProcessView } from './processes.js';
import { SliceNames } from './slice-names.js';
import { userOfProcess } from './users.js';

/** A process that computes on a card; what only draws the desktop is none. */
export interface GpuProcess {
  /** Of the card. */
  readonly uuid: string;
  readonly pid: number;
  readonly name: string;
  readonly usedBytes: number | null;
}

export interface GpuReading {
  readonly gpus: readonly GpuView[];
  readonly processes: readonly GpuProcess[];
  /** Why there are none, or what is wrong with reading them; null when all is well. */
  readonly note: string | null;
  /** Whether errors of cards in the kernel's log are seen. */
  readonly errorLog?: 'read' | 'not readable here';
  /** Cards that do not answer while the tool does. */
  readonly lost?: ReadonlySet<string>;
}

export type AttemptOf = (pid: number) => string | null;

export interface GpuReader {
  /** Looks at everything; answers within the time limit whatever the tool does; never rejects. */
  read(attemptOf: AttemptOf): Promise<GpuReading>;
  /** While on, what moves is told every two seconds, and when it is time to look at everything. */
  follow?(on: boolean, told: { reading(reading: GpuReading): void; look(): void }): void;
  /** Gives a card that was kept from jobs to them again; false: there is no such card. */
  release?(uuid: string): boolean;
  close?(): void;
}

export interface GpuReaderOptions {
  readonly nowMs: () => number;
  readonly command?: string;
  /** What the whole description is asked for with; then nothing else is asked. */
  readonly args?: readonly string[];
  readonly timeoutMs?: number;
  readonly loopMs?: number;
  /** Where the devices of this machine are listed. */
  readonly bus?: string;
  /** Where cards that are kept from jobs are remembered. */
  readonly healthFile?: string;
  readonly cleanAfterMs?: number;
  readonly kernelLog?: ErrorLog;
  readonly onLate?: () => void;
  /** Another machine than this one. */
  readonly elsewhere?: {
    readonly tool: CardsTool;
    readonly bootId: string;
    readonly memoryBytes: number;
    readonly userOf: (pid: number) => string | null;
  };
}

/** A machine without the tool is asked again this seldom: somebody may install a driver. */
const absentForMs = 60_000;
/** Memory of a card that moves by more than this tells that somebody came or went. */
const movedBytes = 16 * 1024 * 1024;
const mostTopologyTries = 3;

export function createGpuReader(options: GpuReaderOptions): GpuReader {
  return new NvidiaReader(options);
}

class NvidiaReader implements GpuReader {
  private readonly tool: CardsTool;
  private readonly health: GpuHealth;
  private readonly kernelLog: ErrorLog;
  private readonly loop: GpuLoop;
  /** As seen last, in the order of the bus; those lost among them. */
  private cards: readonly NvidiaCard[] = [];
  /** Of cards that do not answer: why. */
  private lost = new Map<string, string>();
  /** Cards that said nothing when they were asked alone: why. */
  private unheard: ReadonlyMap<string, string> = new Map();
  private readonly sliceNames = new SliceNames();
  private topology: ReadonlyMap<number, CardTopology> | null = null;
  private topologyOf = '';
  private topologyTries = 0;
  /** What jobs can be given of each card, as it was at the last look. */
  private bases: ReadonlyMap<string, readonly GpuView[]> = new Map();
  /** Used memory at the last look. */
  private usedAtLook = new Map<string, number | null>();
  private failure: string | null = null;
  private absentAtMs: number | null = null;
  private absent = absentReading([]);
  private looking: Promise<void> | null = null;
  private attemptOf: AttemptOf = () => null;
  private told: Parameters<NonNullable<GpuReader['follow']>>[1] | null = null;
  private soon: NodeJS.Immediate | null = null;
  private firstXid = true;

  constructor(private readonly options: GpuReaderOptions) {
    const { nowMs, command, timeoutMs, loopMs, onLate, healthFile = null, cleanAfterMs, elsewhere } = options;
    this.tool = elsewhere?.tool ?? new NvidiaTool({ nowMs, command, timeoutMs, onLate });
    this.kernelLog = options.kernelLog ?? new KernelLog();
    const bootId = elsewhere?.bootId ?? createProcessView().bootId() ?? 'unknown';
    this.health = new GpuHealth({ nowMs, file: healthFile, bootId, cleanAfterMs });
    this.loop = new GpuLoop({
      tool: this.tool,
      ids: () => this.followedIds(),
      onSample: (sample) => this.sampled(sample),
      onTrouble: () => this.told?.look(),
      everyMs: loopMs,
    });
  }

  async read(attemptOf: AttemptOf): Promise<GpuReading> {
    this.attemptOf = attemptOf;
    const { nowMs } = this.options;
    if (this.absentAtMs !== null && Math.abs(nowMs() - this.absentAtMs) < absentForMs) return this.absent;
    // Who asks meanwhile gets the same answer: a driver in trouble is asked once.
    this.looking ??= this.look().finally(() => {
      this.looking = null;
    });
    await this.looking;
    return this.reading();
  }

  follow(on: boolean, told: Parameters<NonNullable<GpuReader['follow']>>[1]): void {
    this.told = on ? told : null;
    this.loop.follow(on && this.options.args === undefined && this.absentAtMs === null);
  }

  release(uuid: string): boolean {
    const card = this.cards.find((each) => this.namesOf(each).includes(uuid));
    if (card === undefined) return false;
    this.releaseNow(card.uuid);
    // A look that is under way may have seen it as it was before.
    void this.looking?.then(() => this.releaseNow(card.uuid));
    return true;
  }

  /** One that is not there any more is forgotten; one that is and does not answer is found lost again. */
  private releaseNow(uuid: string): void {
    this.health.release(uuid);
    if (this.lost.delete(uuid)) this.cards = this.cards.filter((card) => card.uuid !== uuid);
  }

  close(): void {
    this.told = null;
    this.loop.follow(false);
    this.kernelLog.close();
  }

  private namesOf(card: NvidiaCard): string[] {
    return [card.uuid, ...(this.bases.get(card.uuid) ?? []).map(({ uuid }) => uuid)];
  }

  /** Null: all there are. */
  private followedIds(): readonly string[] | null {
    if (this.lost.size === 0) return null;
    const answering = this.cards.filter(({ uuid }) => !this.lost.has(uuid) && !this.unheard.has(uuid));
    return answering.map(({ busId, uuid }) => busId ?? uuid);
  }

  private async look(): Promise<void> {
    const answer = await this.tool.run(this.options.args ?? ['-q', '-x'], true);
    this.absentAtMs = answer.kind === 'absent' ? this.options.nowMs() : null;
    if (answer.kind === 'absent') {
      this.absent = absentReading(answer.vendors ?? displayVendors(this.options.bus));
      return;
    }
    if (answer.kind === 'failed') {
      this.failure = answer.reason;
      return;
    }
    const reading = readNvidiaSmi(answer.text);
    const lostBusId = reading.ok ? null : lostCardOf(answer.text);
    if (reading.ok) this.found(reading.cards, new Map());
    else if (lostBusId !== null) await this.lookOneByOne(lostBusId, reading.reason);
    else if (isCutShort(answer.text) || !(await this.lookByQuery())) {
      this.failure = reading.reason;
      return;
    }
    this.failure = null;
    if (this.options.args === undefined) await this.lookAround();
    this.bases = new Map(this.cards.map((card) => [card.uuid, this.views(card)]));
    if (this.firstXid) await this.kernelLog.settle?.();
    this.readKernelLog();
    this.usedAtLook = new Map(this.cards.map((card) => [card.uuid, card.memoryUsedBytes]));
  }

  /** The tool tells nothing at all while one card is lost, except about a card it is asked for by name. */
  private async lookOneByOne(lostBusId: string, reason: string): Promise<void> {
    // Whoever kept the others from being asked comes last now.
    const silent = [...this.unheard.keys()].reverse();
    const place = ({ uuid }: NvidiaCard): number => silent.indexOf(uuid);
    const known = this.cards.toSorted((left, right) => place(left) - place(right));
    const ids = known.flatMap(({ busId }) => busId ?? []);
    const { found, lost, unheard } = await askOneByOne(this.tool, lostBusId, reason, ids);
    this.found(found, lost, unheard);
  }

  /** For drivers that have no XML to give. */
  private async lookByQuery(): Promise<boolean> {
    if (this.options.args !== undefined) return false;
    const answer = await this.tool.run([`--query-gpu=${cardColumns.join(',')}`, '--format=csv']);
    if (answer.kind !== 'text' || lostCardOf(answer.text) !== null) return false;
    const cards = cardsOfQuery(answer.text, cardColumns).filter(
      ({ name, busId }) => busId !== null || name !== 'unknown card',
    );
    // A sentence that is no table gives cards without any figure.
    if (!answer.text.includes(',') || cards.length === 0) return false;
    this.found(cards, new Map());
    return true;
  }

  /** Takes over what answers; what was there before and does not is lost, with all its figures unknown. */
  private found(
    cards: readonly NvidiaCard[],
    lostBusIds: ReadonlyMap<string, string>,
    unheardBusIds: ReadonlyMap<string, string> = new Map(),
  ): void {
    const all = new Map(cards.map((card) => [card.uuid, card]));
    const lost = new Map<string, string>();
    const unheard = new Map<string, string>();
    for (const [busId, reason] of lostBusIds) {
      const before = this.cards.find((card) => card.busId === busId);
      const card = lostCard(before ?? { uuid: null, index: 0, busId, name: null });
      if (all.has(card.uuid)) continue;
      all.set(card.uuid, card);
      lost.set(card.uuid, reason);
    }
    for (const before of this.cards) {
      if (all.has(before.uuid)) continue;
      const { uuid, busId } = before;
      const silent = this.lost.has(uuid) ? undefined : unheardBusIds.get(busId ?? '');
      if (silent !== undefined) {
        all.set(uuid, before);
        unheard.set(uuid, silent);
        continue;
      }
      all.set(uuid, lostCard(before));
      lost.set(uuid, this.lost.get(uuid) ?? 'nvidia-smi does not list it any more');
    }
    const listed = [...all.values()];
    // Asked for one by one each would be the first.
    this.cards = lost.size === 0 ? listed : listed.sort(byBus).map((card, index) => ({ ...card, index }));
    const followedBefore = this.followedIds()?.join();
    this.lost = lost;
    this.unheard = unheard;
    for (const card of this.cards) {
      if (unheard.has(card.uuid)) continue;
      const reason = lost.get(card.uuid);
      if (reason === undefined) this.health.seen(card, true);
      else this.health.lost(card.uuid, `The card is lost to the driver: ${reason}.`);
    }
    if (this.followedIds()?.join() !== followedBefore) this.loop.restart();
  }

  /** Names of slices, how cards are joined, and whose the memory is where the description does not tell. */
  private async lookAround(): Promise<void> {
    this.failure = await this.sliceNames.look(this.tool, this.cards);
    const names = this.cards.map(({ uuid }) => uuid).join();
    if (names !== this.topologyOf && this.cards.length > 0) {
      const answer = await this.tool.run(['topo', '-m']);
      const topology = answer.kind === 'text' ? parseTopology(answer.text) : new Map<number, CardTopology>();
      this.topology = topology.size === 0 ? null : topology;
      // Where there is no answer it is asked again, but not for ever: each time holds up a look.
      this.topologyTries = answer.kind === 'text' ? 0 : this.topologyTries + 1;
      if (this.topologyTries % mostTopologyTries === 0) this.topologyOf = names;
    }
    const shared = this.cards.filter((card) => card.sharesHostMemory && card.processes.length === 0);
    if (shared.length === 0) return;
    const answer = await this.tool.run([
      `--query-compute-apps=${processColumns.join(',')}`,
      '--format=csv,noheader,nounits',
    ]);
    if (answer.kind !== 'text') return;
    const apps = parseComputeApps(answer.text);
    this.cards = this.cards.map((card) => {
      if (!shared.includes(card)) return card;
      const processes = apps
        // On the only card, whatever name it has.
        .filter(({ uuid }) => uuid === card.uuid || this.cards.length === 1)
        .map(({ process }) => process);
      return { ...card, processes };
    });
  }

  /** What was written before the first look is history: the card may have been reset since. */
  private readKernelLog(): void {
    if (this.cards.length === 0) return;
    const xids = this.kernelLog.read();
    const first = this.firstXid;
    this.firstXid = false;
    if (first) return;
    for (const xid of xids) {
      const card = this.cards.find(({ busId }) => busId?.slice(0, 16) === xid.busId.slice(0, 16));
      if (card !== undefined) this.health.xid(card.uuid, xid);
    }
  }

  private sampled(sample: NvidiaSample): void {
    const at = this.cards.findIndex(
      (card) => card.uuid === sample.uuid || (card.busId !== null && card.busId === sample.busId),
    );
    const before = this.cards[at];
    if (before === undefined || sample.lost !== null) {
      this.told?.look();
      return;
    }
    const { utilizationPercent, temperatureCelsius, powerWatts, clockMhz, memoryClockMhz } = sample;
    const card: NvidiaCard = {
      ...before,
      utilizationPercent,
      temperatureCelsius,
      powerWatts,
      clockMhz,
      memoryClockMhz,
      memoryUsedBytes: sample.memoryUsedBytes,
      eccUncorrected: sample.eccUncorrected ?? before.eccUncorrected,
    };
    this.cards = this.cards.with(at, card);
    this.health.seen({ ...card, trouble: null }, false);
    const used = this.usedAtLook.get(card.uuid) ?? null;
    if (Math.abs((card.memoryUsedBytes ?? 0) - (used ?? 0)) > movedBytes) this.told?.look();
    // The lines of one moment are told together.
    this.soon ??= setImmediate(() => {
      this.soon = null;
      this.readKernelLog();
      this.told?.reading(this.reading());
    });
  }

  private views(card: NvidiaCard): readonly GpuView[] {
    return viewsOf(card, {
      attemptOf: this.attemptOf,
      userOf: this.options.elsewhere?.userOf ?? userOfProcess,
      hostMemoryBytes: this.options.elsewhere?.memoryBytes ?? os.totalmem(),
      listed: this.sliceNames.listed(),
      topology: this.topology,
      cards: this.cards,
    });
  }

  private reading(): GpuReading {
    if (this.absentAtMs !== null) return this.absent;
    const silent = this.failure;
    const gpus = this.cards.flatMap((card) => {
      const reason = this.health.reasonOf(card.uuid);
      return (this.bases.get(card.uuid) ?? []).map((base) => {
        const unheard = silent ?? this.unheard.get(card.uuid) ?? null;
        if (unheard !== null) return silentView(base, unheard);
        const view = measuredNow(base, card);
        return reason === null ? view : { ...view, state: 'SICK' as const, stateReason: reason };
      });
    });
    if (silent !== null) return { gpus, processes: [], note: silent };
    return {
      gpus,
      processes: gpus.flatMap(processesOf),
      errorLog: this.kernelLog.readable() ? 'read' : 'not readable here',
      lost: new Set(
        [...this.lost.keys()].flatMap((uuid) => (this.bases.get(uuid) ?? []).map((view) => view.uuid)),
      ),
      note:
        gpus.length === 0
          ? 'nvidia-smi lists no cards'
          : troubleNote(this.lost.size, this.unheard.size, gpus.length),
    };
  }
}

function processesOf(gpu: GpuView): GpuProcess[] {
  return gpu.processes
    .filter(({ computes }) => computes)
    .map(({ pid, name, usedBytes }) => ({ uuid: gpu.uuid, pid, name, usedBytes }));
}
