/**
 * The caches that the containers of one machine share: measured and emptied when somebody asks, never by themselves. Emptying moves
 * them aside while nothing has them mounted and nothing can start, which takes a moment, and removes them after that. What a removal
 * that was cut short has left is removed when the host begins, or somebody asks again.
 */
import { cacheNames, type CacheName, type MachineCaches } from '../../../../core/contract/caches.js';
import { RefusalError, refusal } from '../../../../core/contract/errors.js';
import { quoteWord } from '../../../../core/contract/shell-words.js';
import { formatSize } from '../../../../core/formats/sizes.js';
import type { CacheControl } from '../../backend.js';
import { messageOf } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';
import { readCaches, type RunCachesScript, type SaidOfCaches, type ScriptEnd } from './caches-script.js';
import { managedLabel } from './container-plan.js';
import type { Engine } from './engine.js';

export interface SharedCachesOptions {
  readonly engine: Engine;
  readonly workerId: string;
  readonly owner: string;
  /** On that machine. */
  readonly folder: string;
  readonly run: RunCachesScript;
  /** Tasks in containers of ours that run there, or are being started. */
  readonly live: () => readonly string[];
  readonly nowMs: () => number;
  readonly log: LinkLog;
  readonly changed: () => void;
  readonly lookSeconds?: number | undefined;
}

const usualLookSeconds = 120;
const emptySeconds = 30;
const removeSeconds = 3600;
const endedStates: ReadonlySet<string> = new Set(['exited', 'dead', 'removing']);

const isLink = 'It is a symbolic link: what it leads to is neither measured nor emptied from here.';
const isPart = 'Some of its folders may not be read, so it takes more than that.';

export class SharedCaches implements CacheControl {
  private said: SaidOfCaches['found'] = new Map();
  private kept: ReadonlyMap<CacheName, string> = new Map();
  private measuredAtMs: number | null = null;
  private failure: string | null = null;
  private wasLate = false;
  private left: MachineCaches['left'] = null;
  private measuring: Promise<void> | null = null;
  private removing: Promise<void> | null = null;
  private moving: Promise<void> | null = null;
  private readonly over = new AbortController();

  constructor(private readonly options: SharedCachesOptions) {}

  view(): MachineCaches {
    const { workerId, folder } = this.options;
    const state = this.failure !== null ? 'FAILED' : this.measuredAtMs === null ? 'UNKNOWN' : 'MEASURED';
    return {
      machineId: workerId,
      folder,
      state: this.measuring === null ? state : 'MEASURING',
      measuredAtMs: this.measuredAtMs,
      message: this.measuring === null ? this.failure : null,
      caches: cacheNames.map((name) => {
        const found = this.said.get(name);
        const bytes = found === undefined || found.how === 'link' ? null : found.bytes;
        return { name, bytes, note: this.noteOf(name) };
      }),
      removing: this.removing !== null,
      left: this.removing === null ? this.left : null,
    };
  }

  /** What an earlier host has left half removed. */
  begin(): void {
    this.remove('busy');
  }

  /** Joins the one that runs. */
  async measure(): Promise<MachineCaches> {
    this.measuring ??= this.look().finally(() => {
      this.measuring = null;
      this.options.changed();
    });
    this.options.changed();
    await this.measuring;
    return this.view();
  }

  /** Before the folders of one that starts are made. */
  async whenStill(): Promise<void> {
    while (this.moving !== null) await this.moving;
  }

  async empty(names: readonly CacheName[]): Promise<readonly CacheName[]> {
    await this.whenStill();
    // From here to `moving` without a pause: what begins to start meanwhile waits for it.
    const live = this.options.live();
    if (live.length > 0) throw inUse(this.options.workerId, live);
    let still: () => void = () => undefined;
    this.moving = new Promise((resolve) => {
      still = resolve;
    });
    try {
      return await this.moveAside(names);
    } finally {
      this.moving = null;
      still();
      this.options.changed();
    }
  }

  close(): void {
    this.over.abort();
  }

  private async look(): Promise<void> {
    const { lookSeconds = usualLookSeconds, nowMs } = this.options;
    const end = await this.run(lookSeconds, ['look', this.options.folder, ...cacheNames]);
    const said = end.kind === 'failed' ? null : readCaches(end.text);
    this.wasLate = end.kind === 'late';
    this.failure = this.failureOf(end, said, lookSeconds);
    if (said === null || this.failure !== null) return;
    this.said = said.folder === 'absent' ? noneThere() : said.found;
    this.kept = new Map();
    this.measuredAtMs = nowMs();
    if (said.left.length === 0) return;
    const isIdle = said.left.some(isUnsure) && (await this.isIdle());
    this.remove(isIdle ? 'idle' : 'busy');
  }

  private async isIdle(): Promise<boolean> {
    if (this.options.live().length > 0) return false;
    return this.refuseMounted().then(
      () => true,
      () => false,
    );
  }

  private failureOf(end: ScriptEnd, said: SaidOfCaches | null, seconds: number): string | null {
    const { workerId, folder } = this.options;
    if (end.kind === 'failed') return `The caches on ${workerId} could not be looked at: ${end.message}.`;
    if (said?.folder === 'link') return linked(folder);
    if (end.kind === 'late' && said?.found.size === 0)
      return `The caches on ${workerId} were not measured within ${seconds} s: the disk they lie on (${folder}) is slow, or does not answer.`;
    if (end.kind === 'done' && said?.whole !== true)
      return `The caches on ${workerId} could not be looked at: the look at ${folder} ended early.`;
    return null;
  }

  private async moveAside(names: readonly CacheName[]): Promise<readonly CacheName[]> {
    const { workerId, folder, nowMs } = this.options;
    await this.refuseMounted();
    const end = await this.run(emptySeconds, ['empty', folder, nowMs().toString(36), ...names]);
    const failed = (why: string, code: 'UNREACHABLE' | 'FAILED_PRECONDITION' = 'FAILED_PRECONDITION') =>
      new RefusalError(refusal(code, `The caches on ${workerId} were not emptied: ${why}`));
    if (end.kind === 'failed') throw failed(`${end.message}.`, 'UNREACHABLE');
    if (end.kind === 'late')
      throw failed(
        `the disk they lie on (${folder}) does not answer. Look at them again later.`,
        'UNREACHABLE',
      );
    const said = readCaches(end.text);
    if (said.folder === 'link') throw new RefusalError(refusal('FAILED_PRECONDITION', linked(folder)));
    if (said.folder === 'absent') return [];
    if (said.failed !== null) throw failed(`${said.failed}.`);
    if (!said.whole && said.moved.length === 0) throw failed(`what was begun at ${folder} ended early.`);
    this.kept = new Map([...said.kept].map(([name, why]) => [name, keptNote(why)]));
    const none = { how: 'none', bytes: 0 } as const;
    if (this.measuredAtMs !== null)
      this.said = new Map([...this.said, ...said.moved.map((name) => [name, none] as const)]);
    if (said.moved.length > 0) this.remove('idle');
    else if (said.kept.size > 0) {
      const why = [...this.kept].map(([name, note]) => `${name}: ${note}`);
      throw failed(why.join(' '));
    }
    return said.moved;
  }

  /** By the Engine's own word: also what another host of ours has left, and what somebody began by hand. */
  private async refuseMounted(): Promise<void> {
    const { engine, workerId, owner, folder } = this.options;
    const unsure = (why: string) =>
      new RefusalError(
        refusal(
          'UNREACHABLE',
          `The caches on ${workerId} were not emptied: whether a container has them mounted cannot be told. ${why}`,
        ),
      );
    if (!(await engine.ready(0))) {
      const { state, message } = engine.state();
      // Without an Engine nothing of it runs.
      if (state === 'ABSENT') return;
      throw unsure(message ?? 'Docker does not answer.');
    }
    const all = await engine
      .ask((docker) => docker.listContainers({ all: true }))
      .catch((error: unknown) => {
        throw unsure(`${messageOf(error)}.`);
      });
    const users = all.filter(({ State: state, Labels: labels, Mounts: mounts }) => {
      if (endedStates.has(state)) return false;
      // Some Engines say nothing of mounts here.
      const sources = Array.isArray(mounts) ? mounts.map(({ Source }) => Source) : [];
      return { ...labels }[managedLabel] === owner || sources.some((source) => isWithin(source, folder));
    });
    if (users.length === 0) return;
    throw inUse(
      workerId,
      users.map(
        ({ Id, Names, Labels }) => ({ ...Labels })['iris.task'] ?? Names[0]?.replace(/^\//, '') ?? Id,
      ),
    );
  }

  private remove(what: 'idle' | 'busy'): void {
    if (this.removing !== null) {
      // What has come since is not in its list.
      void this.removing.then(() => this.remove(what));
      return;
    }
    this.removing = this.removeLeft(what).finally(() => {
      this.removing = null;
      this.options.changed();
    });
  }

  private async removeLeft(what: 'idle' | 'busy'): Promise<void> {
    const { workerId, folder, log } = this.options;
    const end = await this.run(removeSeconds, ['remove', folder, what]);
    if (this.over.signal.aborted) return;
    const why =
      end.kind === 'failed' ? end.message : end.kind === 'late' ? 'it took more than an hour' : null;
    if (why !== null || end.kind !== 'done') {
      log.warn('What was emptied of the caches is not removed yet', { worker: workerId, error: why });
      return;
    }
    const { left } = readCaches(end.text);
    const tried = left.filter((one) => what === 'idle' || !isUnsure(one));
    this.left = tried.length > 0 ? leftOf(tried) : left.length > 0 ? interrupted(left) : null;
    if (this.left !== null) log.warn(this.left.message, { worker: workerId });
  }

  private async run(seconds: number, args: readonly string[]): Promise<ScriptEnd> {
    try {
      return await this.options.run(seconds, args, this.over.signal);
    } catch (error) {
      return { kind: 'failed', message: messageOf(error) };
    }
  }

  private noteOf(name: CacheName): string | null {
    const kept = this.kept.get(name);
    if (kept !== undefined) return kept;
    const found = this.said.get(name);
    if (found?.how === 'link') return isLink;
    if (found?.how === 'part') return isPart;
    const isMissing = found === undefined && this.wasLate && this.measuredAtMs !== null;
    return isMissing ? `It was not measured in the time there was for it.` : null;
  }
}

function noneThere(): SaidOfCaches['found'] {
  return new Map(cacheNames.map((name) => [name, { how: 'none', bytes: 0 }]));
}

function isWithin(source: string, folder: string): boolean {
  return source === folder || source.startsWith(`${folder}/`);
}

/** Whether its move was seen to its end is not known, so it waits for a time when nothing runs. */
function isUnsure({ path }: { readonly path: string }): boolean {
  return path.includes('/.emptying-');
}

function sizeOf(left: SaidOfCaches['left']): number {
  return left.reduce((sum, one) => sum + one.bytes, 0);
}

function interrupted(left: SaidOfCaches['left']): MachineCaches['left'] {
  const bytes = sizeOf(left);
  const message = `${formatSize(bytes)} was being emptied when that was interrupted. It is removed when the caches are measured or emptied while no container runs there.`;
  return { bytes, message };
}

function leftOf(left: SaidOfCaches['left']): MachineCaches['left'] {
  const bytes = sizeOf(left);
  const paths = left.map(({ path }) => quoteWord(path)).join(' ');
  return {
    bytes,
    message: `${formatSize(bytes)} of what was emptied could not be removed: it belongs to other users, as what root makes in a container does. To remove it there: sudo rm -rf ${paths}`,
  };
}

function keptNote(why: string): string {
  return why === 'link' ? isLink : `It could not be moved aside: ${why.replace(/\.?$/, '.')}`;
}

function linked(folder: string): string {
  return `${folder} is a symbolic link: what it leads to is neither measured nor emptied from here.`;
}

function inUse(workerId: string, tasks: readonly string[]): RefusalError {
  const [first = ''] = tasks;
  const more = tasks.length - 1;
  const who = more === 0 ? `${first} runs` : `${first} and ${more} more run`;
  return new RefusalError(
    refusal(
      'FAILED_PRECONDITION',
      `${who} in a container on ${workerId}, or ${more === 0 ? 'is' : 'are'} being started, and may have the caches mounted. Empty them when none does; irisctl machine drain ${workerId} --wait waits for that.`,
    ),
  );
}
