/**
 * Looks at where a start will go before a launcher does, which makes one after the other: a child looks, so that a server that is
 * gone holds up nobody else. Only where that may happen, by the table of mounts, and not again for a while after an answer.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mayHang, mountsOf, readMountInfo, type Mounts } from '../../../machine/may-hang.js';
import type { StartItem } from './launcher-protocol.js';
import { programPlaces, type ProgramPlaces } from './program.js';

export interface StartLooksOptions {
  readonly monotonicMs: () => number;
  /** For so long an answer is waited for. */
  readonly patienceMs: number;
  readonly searchPath: string | undefined;
  readonly mountInfo?: (() => string) | undefined;
  /** It answered: they may go on. */
  readonly onAnswer: (items: readonly StartItem[]) => void;
  readonly onSilence: (item: StartItem) => void;
}

interface Look {
  /** Null: there could be none. */
  readonly child: ChildProcess | null;
  readonly waiting: Map<string, { readonly item: StartItem; readonly timer: NodeJS.Timeout }>;
}

/** As a launcher looks: the folder, then each file the program may be, up to the first that it is. */
const script =
  'cd -- "$1" 2>/dev/null || exit 0; shift; for file do [ -d "$file" ] || [ ! -x "$file" ] || exit 0; done; exit 0';
const mountsForMs = 1000;
const answerForMs = 10_000;
const mostAnswers = 1000;

export class StartLooks {
  private readonly looks = new Map<string, Look>();
  /** When each was answered last. */
  private readonly answered = new Map<string, number>();
  private mounts: Mounts = new Map();
  private mountsAtMs = -Infinity;
  private readonly known = new Map<string, boolean>();
  private closed = false;

  constructor(private readonly options: StartLooksOptions) {}

  /** Those that need no look; the others come by `onAnswer`, or `onSilence`. */
  pass(items: readonly StartItem[]): readonly StartItem[] {
    return items.filter((item) => !this.needsLook(item) || !this.take(item));
  }

  forget(uid: string): void {
    for (const look of this.looks.values()) {
      const waits = look.waiting.get(uid);
      if (waits === undefined) continue;
      clearTimeout(waits.timer);
      look.waiting.delete(uid);
      if (look.waiting.size === 0) look.child?.kill('SIGKILL');
    }
  }

  /** A launcher has hung at it. */
  doubt(item: StartItem): void {
    this.answered.delete(this.keyOf(item));
  }

  close(): void {
    this.closed = true;
    for (const { child, waiting } of this.looks.values()) {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
      child?.kill('SIGKILL');
    }
  }

  private needsLook(item: StartItem): boolean {
    const now = this.options.monotonicMs();
    if (now - this.mountsAtMs > mountsForMs) {
      this.mounts = mountsOf((this.options.mountInfo ?? readMountInfo)());
      this.mountsAtMs = now;
      this.known.clear();
    }
    if (this.mounts.size === 0) return false;
    const name = item.command[0] ?? '';
    const searchPath = item.environment['PATH'] ?? this.options.searchPath ?? '';
    const program = name.includes('/') ? `${item.folder}\0${name}` : `\0${name}\0${searchPath}`;
    return (
      this.once(item.folder, () => mayHang(item.folder, this.mounts)) ||
      this.once(program, () => this.searchMayHang(this.placesOf(item)))
    );
  }

  private once(key: string, find: () => boolean): boolean {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const found = find();
    this.known.set(key, found);
    return found;
  }

  private searchMayHang({ files }: ProgramPlaces): boolean {
    for (const file of files) {
      if (mayHang(file, this.mounts)) return true;
      if (isExecutable(file)) return false;
    }
    return false;
  }

  private placesOf(item: StartItem): ProgramPlaces {
    const searchPath = item.environment['PATH'] ?? this.options.searchPath;
    return programPlaces(item.command[0] ?? '', item.folder, searchPath);
  }

  private keyOf(item: StartItem): string {
    return [item.folder, ...this.placesOf(item).files].join('\0');
  }

  /** False: it has answered lately. */
  private take(item: StartItem): boolean {
    const key = this.keyOf(item);
    const answeredMs = this.answered.get(key);
    if (answeredMs !== undefined && this.options.monotonicMs() - answeredMs < answerForMs) return false;
    const look = this.looks.get(key) ?? this.look(key, [item.folder, ...this.placesOf(item).files]);
    const timer = setTimeout(() => {
      this.forget(item.uid);
      this.options.onSilence(item);
    }, this.options.patienceMs);
    timer.unref();
    look.waiting.set(item.uid, { item, timer });
    return true;
  }

  /** One at a time of each: what hangs may not even die, and must not become many. */
  private look(key: string, texts: readonly string[]): Look {
    const child = lookingChild(texts);
    const look: Look = { child, waiting: new Map() };
    this.looks.set(key, look);
    const over = (isAnswer: boolean): void => {
      if (this.looks.get(key) !== look) return;
      this.looks.delete(key);
      const items = [...look.waiting.values()].map(({ item, timer }) => {
        clearTimeout(timer);
        return item;
      });
      if (this.closed) return;
      if (isAnswer) {
        if (this.answered.size >= mostAnswers) this.answered.clear();
        this.answered.set(key, this.options.monotonicMs());
        this.options.onAnswer(items);
      } else for (const item of items) this.take(item); // asked for after nobody wanted the look any more
    };
    // Without a child nobody can look; the launcher then says what it says.
    if (child === null) setImmediate(over, true);
    child?.on('exit', (code) => over(code !== null));
    child?.on('error', () => over(true));
    return look;
  }
}

/** Null: the system makes none at all, as where there is no memory for it or these are more than a program can be given. */
function lookingChild(texts: readonly string[]): ChildProcess | null {
  try {
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...texts], {
      cwd: '/',
      env: {},
      stdio: 'ignore',
      detached: true,
    });
    // Who ends does not wait for what hangs.
    child.unref();
    return child;
  } catch {
    return null;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
