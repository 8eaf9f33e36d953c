/** The far hand without SSH between: run here, with a home folder of its own, and spoken to in its own words. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GpuView } from '../../core/contract/gpus.js';
import type { AttemptLaunch } from '../../main/backends/backend.js';
import { claimTexts, startTexts, type FarPlace } from '../../main/backends/workstation/ssh/far-start.js';
import {
  farFrame,
  FarWords,
  type FarText,
  type FarWord,
} from '../../main/backends/workstation/ssh/far-words.js';

const workstation = path.resolve(import.meta.dirname, '../../main/backends/workstation');
const text = (file: string): string => readFileSync(path.join(workstation, file), 'utf8');
const handText = (): string => text('ssh/far-claims.pl') + text('ssh/far-hand.pl');
const supervisor = text('process/supervisor.sh');

export interface LocalHandOptions {
  readonly home: string;
  readonly claims: string;
  /** Sixteen hexadecimal digits. */
  readonly controller: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly umask?: string;
  /** How long a start may hang, in seconds. */
  readonly patience?: number;
  /** It may have so many open. */
  readonly mostFiles?: number;
}

export class LocalHand {
  readonly said: FarWord[] = [];
  errors = '';
  private waiters: (() => void)[] = [];
  private readonly words = new FarWords();
  private place: FarPlace | null = null;

  private constructor(readonly process: ChildProcessWithoutNullStreams) {
    process.stdout.on('data', (piece: Buffer) => {
      this.said.push(...this.words.push(piece));
      this.wake();
    });
    process.once('exit', () => this.wake());
    process.stderr.setEncoding('utf8').on('data', (piece: string) => (this.errors += piece));
    process.stdin.on('error', () => undefined);
  }

  /** Owns its folder and has told what others claim. */
  static async open({
    home,
    claims,
    controller,
    env = {},
    umask = '022',
    mostFiles,
    patience = 60,
  }: LocalHandOptions): Promise<LocalHand> {
    mkdirSync(home, { recursive: true });
    const file = path.join(home, 'hand.pl');
    writeFileSync(file, handText().replace('$patience = 60', `$patience = ${patience}`));
    const limit = mostFiles === undefined ? '' : `ulimit -n ${mostFiles}; `;
    const script = `umask ${umask}; ${limit}exec perl -e 'open my $f,"<",$ARGV[0];local $/;eval(<$f>);die($@)' "$1"`;
    const hand = new LocalHand(
      spawn('sh', ['-c', script, 'sh', file], {
        stdio: 'pipe',
        env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
      }),
    );
    await hand.word('hello');
    hand.send('setup', 'attempts', 'supervisor', supervisor, claims, controller);
    const folder = (await hand.word('ready')).text(0);
    hand.place = {
      folder,
      supervisor: `${folder}/supervisor`,
      umask: 0o022,
      searchPath: process.env['PATH'],
      unbuffered: false,
    };
    return hand;
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  send(...texts: readonly FarText[]): void {
    this.process.stdin.write(farFrame(texts));
  }

  start(launch: AttemptLaunch, gpus: readonly GpuView[] = []): void {
    if (this.place === null) throw new Error('the hand has no folder yet');
    this.send(...startTexts(launch, this.place, [], gpus));
  }

  keep(launch: AttemptLaunch): void {
    this.send('keep', launch.uid, '0', ...claimTexts(launch));
  }

  prepare(launch: AttemptLaunch): Promise<FarWord> {
    const claim = claimTexts(launch);
    const id = launch.uid;
    this.send('prepare', id, launch.uid, String(claim.length), ...claim);
    return this.word('prepared', (word) => word.text(0) === id);
  }

  /** What was said, or is said next, of that kind. */
  async word(kind: string, test: (word: FarWord) => boolean = () => true): Promise<FarWord> {
    for (;;) {
      const found = this.said.find((word) => word.kind === kind && test(word));
      if (found !== undefined) return found;
      if (this.process.exitCode !== null || this.process.signalCode !== null)
        throw new Error(`The hand ended before it said ${kind}: ${this.errors}`);
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  /** Kills it, however far it got; all of it is gone then. */
  async end(uid: string): Promise<void> {
    this.send('stop', uid, 'KILL', '0', '');
    await Promise.race(['gone', 'fenced'].map((kind) => this.word(kind, (word) => word.text(0) === uid)));
  }

  private wake(): void {
    for (const wake of this.waiters.splice(0)) wake();
  }

  /** What it told last of others. */
  claims(): readonly string[] {
    const last = this.said.filter(({ kind }) => kind === 'claims').at(-1);
    return last === undefined ? [] : Array.from({ length: last.count }, (_, index) => last.text(index));
  }

  async kill(): Promise<void> {
    const gone = once(this.process, 'exit');
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await gone;
  }

  /** Stops what it started, and leaves. */
  async close(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    for (const word of this.said.filter(({ kind }) => kind === 'started')) {
      const over = this.said.some(
        (each) => ['gone', 'fenced'].includes(each.kind) && each.text(0) === word.text(0),
      );
      if (!over) await this.end(word.text(0));
    }
    this.send('strays');
    await this.word('strays-gone');
    const gone = once(this.process, 'exit');
    this.process.stdin.end();
    await gone;
  }
}
