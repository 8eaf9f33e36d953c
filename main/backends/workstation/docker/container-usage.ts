/**
 * What containers use while they run: from their control group where it can be read here, else from one stream of the Engine's
 * statistics each. What is over within a second is not measured and costs nothing.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  groupFigures,
  groupPlace,
  type GroupFigures,
  type GroupPlace,
} from '../../../../core/formats/docker/group-usage.js';
import { readContainer } from '../../../../core/formats/docker/inspect.js';
import { readStats } from '../../../../core/formats/docker/stats.js';
import { attemptOf } from '../../../machine/processes.js';
import { diskUseOf, usageOfTree } from '../process-usage.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import type { Engine } from './engine.js';

export interface ContainerUsageOptions {
  readonly engine: Engine;
  /** The Engine is on another machine, and so are the control groups. */
  readonly isFar: boolean;
  readonly onSample: (entry: AttemptEntry, figures: GroupFigures) => void;
  readonly everyMs?: number | undefined;
}

const livesOnAfterMs = 1000;
const defaultEveryMs = 2000;

interface Watched {
  readonly entry: AttemptEntry;
  readonly id: string;
  readonly abort: AbortController;
  timer: NodeJS.Timeout;
  /** Its first process, where the Engine gives it no control group of its own. */
  root: number | null;
  pids: readonly number[];
}

export class ContainerUsage {
  private readonly watched = new Map<string, Watched>();

  constructor(private readonly options: ContainerUsageOptions) {}

  begin(entry: AttemptEntry, id: string): void {
    this.end(entry.uid);
    const each: Watched = {
      entry,
      id,
      abort: new AbortController(),
      timer: setTimeout(() => void this.look(each), livesOnAfterMs).unref(),
      root: null,
      pids: [],
    };
    this.watched.set(entry.uid, each);
  }

  end(uid: string): void {
    const each = this.watched.get(uid);
    if (each === undefined) return;
    this.watched.delete(uid);
    clearTimeout(each.timer);
    each.abort.abort();
  }

  close(): void {
    for (const uid of [...this.watched.keys()]) this.end(uid);
  }

  private isWatched(each: Watched): boolean {
    return this.watched.get(each.entry.uid) === each;
  }

  private later(each: Watched, work: () => void): void {
    if (this.isWatched(each)) each.timer = setTimeout(work, this.options.everyMs ?? defaultEveryMs).unref();
  }

  /** Its processes as they were last seen, where no control group holds them together and it has run for a moment. */
  members(uid: string): readonly { readonly pid: number }[] {
    return this.watched.get(uid)?.pids.map((pid) => ({ pid })) ?? [];
  }

  private async look(each: Watched): Promise<void> {
    if (this.options.engine.known()?.limits.groups === false) {
      // The Engine would tell the figures of the group it runs in itself.
      if (!this.options.isFar) await this.lookAtTree(each).catch(() => undefined);
      this.later(each, () => void this.look(each));
      return;
    }
    const place = this.options.isFar ? null : await this.placeOf(each.id).catch(() => null);
    if (place !== null) {
      this.sample(each, place);
      return;
    }
    // The Engine may be away, and a stream end: it is asked for again while the container runs.
    await this.follow(each).catch(() => undefined);
    this.later(each, () => void this.look(each));
  }

  private async placeOf(id: string): Promise<GroupPlace | null> {
    const { engine } = this.options;
    const pid = readContainer(await engine.ask((docker) => docker.getContainer(id).inspect()))?.pid;
    const text = typeof pid === 'number' ? readText(`/proc/${pid}/cgroup`) : null;
    const place = text === null ? null : groupPlace(text, id);
    return place === null || figuresOf(place).cpuSeconds === null ? null : place;
  }

  private async lookAtTree(each: Watched): Promise<void> {
    const { engine } = this.options;
    if (each.root === null) {
      const view = readContainer(await engine.ask((docker) => docker.getContainer(each.id).inspect()));
      // Its number may be one of another namespace: only what names the attempt is its.
      const pid = view?.pid ?? null;
      each.root = pid !== null && attemptOf(pid) === each.entry.uid ? pid : null;
    }
    const usage = each.root === null ? null : usageOfTree(each.root);
    each.pids = usage?.pids ?? [];
    if (usage !== null && this.isWatched(each)) this.take(each, { ...usage, peakMemoryBytes: null });
  }

  private sample(each: Watched, place: GroupPlace): void {
    if (!this.isWatched(each)) return;
    this.take(each, figuresOf(place));
    this.later(each, () => this.sample(each, place));
  }

  /** Until the stream ends. */
  private async follow(each: Watched): Promise<void> {
    const { engine } = this.options;
    // What the client takes is more than its types say.
    const wanted = { stream: true as const, abortSignal: each.abort.signal };
    const stream = await engine.ask((docker) => docker.getContainer(each.id).stats(wanted));
    await new Promise<void>((resolve) => {
      let text = '';
      stream.on('data', (piece: Buffer) => {
        const rows = (text + piece.toString()).split('\n');
        text = rows.pop() ?? '';
        for (const row of rows) this.takeRow(each, row);
      });
      for (const over of ['end', 'close', 'error']) stream.on(over, () => resolve());
    });
  }

  private takeRow(each: Watched, row: string): void {
    let value: unknown;
    try {
      value = JSON.parse(row);
    } catch {
      return; // an empty row
    }
    const sample = readStats(value);
    if (sample !== null && this.isWatched(each)) this.take(each, sample);
  }

  private take({ entry }: Watched, figures: GroupFigures): void {
    if (figures.cpuSeconds === null && figures.memoryBytes === null) return;
    const highest = figures.peakMemoryBytes ?? figures.memoryBytes;
    if (highest !== null) entry.peakMemoryBytes = Math.max(entry.peakMemoryBytes ?? 0, highest);
    this.options.onSample(entry, figures);
  }
}

/** Where every system has them mounted; where one does not, the Engine is asked instead. */
const mounts = {
  1: { cpu: '/sys/fs/cgroup/cpuacct', memory: '/sys/fs/cgroup/memory' },
  2: { cpu: '/sys/fs/cgroup', memory: '/sys/fs/cgroup' },
} as const;

function figuresOf(place: GroupPlace): GroupFigures {
  const roots = mounts[place.version];
  const read = (controller: 'cpu' | 'memory', name: string) =>
    readText(path.join(roots[controller], place[controller], name));
  // Of what was written by way of memory, version 1 does not know whose it was; its processes do.
  const pids =
    read('cpu', 'cgroup.procs')
      ?.split('\n')
      .filter((pid) => pid !== '') ?? [];
  return { ...groupFigures(place, read), ...diskUseOf(pids) };
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // ended meanwhile, or not ours to read
  }
}
