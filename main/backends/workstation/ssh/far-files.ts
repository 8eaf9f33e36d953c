/** What containers on a machine reached by SSH need of its files, asked of the far hand. */
import path from 'node:path';
import { cachesScript, hangsMessage, type RunCachesScript } from '../docker/caches-script.js';
import type { ReadRoom } from '../docker/engine-room.js';
import { preparedNot, type HostFiles } from '../docker/local-files.js';
import { stagingFault } from '../process/staging.js';
import type { FarText, FarWord } from './far-words.js';
import { claimRefusal, claimTexts, noticeText, stagedFiles, systemCode } from './far-start.js';
import type { AttemptLaunch, StopNotice } from '../../backend.js';

const answers: ReadonlySet<string> = new Set(['real', 'prepared', 'noticed', 'room', 'caches']);

type Send = (...texts: readonly FarText[]) => void;

export class FarFiles implements HostFiles {
  private readonly asked = new Map<number, (word: FarWord | null) => void>();
  private next = 0;
  private send: Send | null = null;
  /** Hashes of files that were sent over this connection. */
  private readonly sent = new Set<string>();

  constructor(private readonly name: string) {}

  connected(send: Send): void {
    this.send = send;
    this.sent.clear();
  }

  disconnected(): void {
    this.send = null;
    const waiting = [...this.asked.values()];
    this.asked.clear();
    for (const answer of waiting) answer(null);
  }

  /** An answer: its kind, the number of its question, and what was found. False: it is none. */
  word(word: FarWord): boolean {
    if (!answers.has(word.kind)) return false;
    const id = word.number(0) ?? -1;
    const answer = this.asked.get(id);
    this.asked.delete(id);
    answer?.(word);
    return true;
  }

  async realPath(file: string): Promise<string | null> {
    const word = await this.ask('real', [file]);
    if (word === null) throw new Error(`${this.name} is not connected`);
    const why = word.text(2) === 'late' ? 'a file system there does not answer' : word.text(2);
    if (why !== '') throw new Error(`${file} on ${this.name} could not be looked at: ${why}`);
    return word.text(1) === '' ? null : word.text(1);
  }

  /** What stands behind the name of what is no folder, or may not be entered, is nowhere. Null: nobody could say. */
  async hasFolder(folder: string): Promise<boolean | null> {
    const word = await this.ask('real', [`${folder}/.`]);
    return word === null || word.text(2) !== '' ? null : word.text(1) !== '';
  }

  async prepare(
    folder: string,
    files: Parameters<HostFiles['prepare']>[1],
    launch: AttemptLaunch,
  ): ReturnType<HostFiles['prepare']> {
    const staged = stagedFiles(files);
    if (staged === null) {
      const message = 'A staged file must have a relative path that stays inside IRIS_WORKDIR.';
      return { cause: { code: 'STAGING_FAILED', message } };
    }
    for (const { hash, content } of staged) {
      if (!this.sent.has(hash)) this.send?.('put', hash, content);
      this.sent.add(hash);
    }
    const uid = path.basename(folder);
    const claim = claimTexts(launch);
    const paths = staged.flatMap((file) => [file.path, file.hash]);
    const word = await this.ask('prepare', [uid, String(claim.length), ...claim, ...paths]);
    if (word === null) throw new Error(`${this.name} is not connected`);
    const refused = claimRefusal(word, 3, launch);
    if (refused !== null) return { cause: refused, blameless: true };
    if (word.text(1) !== '') return { scratch: word.text(1) };
    // One of them may not have arrived.
    for (const { hash } of staged) this.sent.delete(hash);
    return preparedNot(stagingFault(systemCode(word.number(3)), `On ${this.name}: ${word.text(2)}.`));
  }

  /** Until it is written there, or nobody is there to write it. */
  async notice(uid: string, notice: StopNotice, clockSkewMs: number): Promise<void> {
    await this.ask('notice', [uid, noticeText(notice, clockSkewMs)]);
  }

  /** It runs: what it has is held for it, also by a hand that knows nothing of it yet. */
  hold(launch: AttemptLaunch): void {
    this.send?.('hold', launch.uid, ...claimTexts(launch));
  }

  release(uid: string): void {
    this.send?.('release', uid);
  }

  /** All there may be: what is held for others is given back. */
  contained(uids: readonly string[]): void {
    this.send?.('contained', ...uids);
  }

  readonly roomEveryMs = 10_000;
  /** What `df` says there of the folder. */
  readonly room: ReadRoom = async (folder) => {
    const word = await this.ask('room', [folder]);
    const match = /\n\S.*?\s(\d+)\s+\d+\s+(-?\d+)\s+\d+%\s+\/.*\n?$/.exec(word?.text(1) ?? '');
    if (match === null || Number(match[1]) === 0) return null;
    return {
      path: folder,
      totalBytes: Number(match[1]) * 1024,
      freeBytes: Math.max(0, Number(match[2])) * 1024,
    };
  };

  /** There, by the hand. It is ended when its time is over; when the host ends, it goes on for as long as that. */
  readonly runCachesScript: RunCachesScript = async (seconds, args) => {
    const word = await this.ask('caches', [String(seconds), cachesScript, ...args]);
    if (word === null) return { kind: 'failed', message: `${this.name} is not connected` };
    const [text, how] = [word.text(1), word.text(2)];
    if (how === 'hangs') return { kind: 'failed', message: hangsMessage };
    if (how !== '' && how !== 'late') return { kind: 'failed', message: how };
    return { kind: how === 'late' ? 'late' : 'done', text };
  };

  /** Its Engine is reached through a connection, not through a file. */
  socketGroup(): null {
    return null;
  }

  /** Null: the connection went first. */
  private ask(kind: string, texts: readonly FarText[]): Promise<FarWord | null> {
    const { send } = this;
    if (send === null) return Promise.resolve(null);
    const id = this.next;
    this.next += 1;
    return new Promise((resolve) => {
      this.asked.set(id, resolve);
      send(kind, String(id), ...texts);
    });
  }
}
