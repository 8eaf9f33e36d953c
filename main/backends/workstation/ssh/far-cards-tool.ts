/** nvidia-smi and the kernel's log of another machine, asked through its hand: the reader of cards here reads them as it reads its own. */
import { absentVendors } from './gpu-text.js';
import { parseXid, type Xid } from '../../../../core/formats/nvidia-smi/xid.js';
import type { ErrorLog } from '../../../machine/kernel-log.js';
import {
  LateAnswers,
  silentFor,
  usualTimeoutMs,
  type CardsCall,
  type CardsTool,
  type ToolAnswer,
} from '../../../machine/nvidia-tool.js';
import type { FarText, FarWord } from './far-words.js';

type Send = (...texts: readonly FarText[]) => void;

/** A process on a card, as the far hand sees it. */
interface Owner {
  /** Attempt of ours; null: somebody else's. */
  readonly attemptUid: string | null;
  readonly user: string | null;
}

interface Followed {
  readonly text: (piece: string) => void;
  readonly ended: () => void;
}

interface Call {
  readonly args: readonly string[];
  readonly mayBeLate: boolean;
  readonly beganMs: number;
  readonly patienceMs: number;
  readonly answer: (answer: ToolAnswer) => void;
}

export class FarCardsTool implements CardsTool {
  readonly timeoutMs = usualTimeoutMs;
  private readonly lateAnswers = new LateAnswers(usualTimeoutMs);
  readonly longestMs = this.lateAnswers.longestMs;
  /** One that was told to be late, and goes on. */
  private late: { readonly id: string; readonly call: Call } | null = null;
  private send: Send | null = null;
  private next = 0;
  private readonly asked = new Map<string, Call>();
  private readonly followed = new Map<string, Followed>();
  private owners: ReadonlyMap<number, Owner> = new Map();

  /** `onLate`: a call has answered after its time. */
  constructor(private readonly onLate: () => void) {}

  connected(send: Send): void {
    this.send = send;
  }

  /** What it was asked has no answer any more; calls that went on have ended with their hand. */
  disconnected(): void {
    this.send = null;
    const [asked, followed] = [[...this.asked.values()], [...this.followed.values()]];
    this.asked.clear();
    this.followed.clear();
    this.late = null;
    for (const { answer } of asked) answer({ kind: 'failed', reason: 'the machine is not in contact' });
    for (const { ended } of followed) ended();
  }

  /** A call there that hangs is known to the hand, which says so in place of making another. */
  hangs(): string | null {
    return null;
  }

  run(args: readonly string[], mayBeLate = false): Promise<ToolAnswer> {
    const { send } = this;
    if (send === null) return Promise.resolve({ kind: 'failed', reason: 'the machine is not in contact' });
    const late = mayBeLate ? this.lateAnswers.take(args) : null;
    if (late !== null) return Promise.resolve(late);
    const id = this.newId();
    const patienceMs = this.lateAnswers.patienceMs();
    return new Promise((answer) => {
      this.asked.set(id, { args, mayBeLate, beganMs: performance.now(), patienceMs, answer });
      const endAfterMs = mayBeLate ? this.longestMs : patienceMs;
      send('tool', id, String(Math.ceil(patienceMs / 1000)), String(Math.ceil(endAfterMs / 1000)), ...args);
    });
  }

  follow(args: readonly string[], told: Followed): CardsCall {
    const id = this.newId();
    const end = (): void => {
      if (this.followed.delete(id)) this.send?.('unloop', id);
    };
    if (this.send === null) setImmediate(told.ended);
    else {
      this.followed.set(id, told);
      this.send('loop', id, ...args);
    }
    return { giveUp: end, end };
  }

  attemptOf(pid: number): string | null {
    return this.owners.get(pid)?.attemptUid ?? null;
  }

  userOf(pid: number): string | null {
    return this.owners.get(pid)?.user ?? null;
  }

  /** tool ID OUTCOME TEXT, then of each process on a card its pid, its attempt (empty: none) and its user; loop ID TEXT; loop-end ID. */
  word(word: FarWord): void {
    const id = word.text(0);
    if (word.kind === 'loop') this.followed.get(id)?.text(word.text(1));
    else if (word.kind === 'loop-end') {
      const followed = this.followed.get(id);
      this.followed.delete(id);
      followed?.ended();
    } else this.answered(id, word);
  }

  private answered(id: string, word: FarWord): void {
    const [outcome, text] = [word.text(1), word.text(2)];
    const call = this.asked.get(id) ?? (this.late?.id === id ? this.late.call : undefined);
    const wasAsked = this.asked.delete(id);
    if (this.late?.id === id) this.late = null;
    if (call === undefined) return;
    if (word.count > 3) this.owners = ownersOf(word);
    if (outcome === 'late' && wasAsked && call.mayBeLate) this.late = { id, call };
    if (outcome === 'done' && call.mayBeLate) this.lateAnswers.took(performance.now() - call.beganMs);
    if (wasAsked) call.answer(answerOf(outcome, text, call.patienceMs));
    else if (outcome === 'done' && this.lateAnswers.keep(call.args, text)) this.onLate();
  }

  private newId(): string {
    this.next += 1;
    return String(this.next);
  }
}

function ownersOf(word: FarWord): ReadonlyMap<number, Owner> {
  const owners = new Map<number, Owner>();
  for (let index = 3; index + 2 < word.count; index += 3) {
    const [attemptUid, user] = [word.text(index + 1), word.text(index + 2)];
    owners.set(word.number(index) ?? 0, { attemptUid: attemptUid || null, user: user || null });
  }
  return owners;
}

function answerOf(outcome: string, text: string, patienceMs: number): ToolAnswer {
  if (outcome === 'late') return { kind: 'failed', reason: silentFor(patienceMs) };
  if (outcome === 'hangs')
    return {
      kind: 'failed',
      reason: `nvidia-smi has not answered for ${text} s; it is not asked again before it ends`,
    };
  if (outcome === 'failed') return { kind: 'failed', reason: `nvidia-smi could not be run there: ${text}` };
  const vendors = absentVendors(text);
  return vendors === null ? { kind: 'text', text } : { kind: 'absent', vendors };
}

/**
 * Errors of cards as the kernel there logs them. Each hand reads the log from its beginning, so what was written while there was none
 * is not missed; what was written before the first one is history. So is all there is after a start of the machine, at which records
 * are numbered anew.
 */
export class FarErrorLog implements ErrorLog {
  private isReadable = false;
  private seen: number | null = null;
  private found: Xid[] = [];

  readable(): boolean {
    return this.isReadable;
  }

  read(): readonly Xid[] {
    return this.found.splice(0);
  }

  close(): void {
    this.found = [];
    this.seen = null;
  }

  /** kernel READABLE LAST-NUMBER, then numbers and lines in turn. True: there is something new. */
  word(word: FarWord): boolean {
    this.isReadable = word.text(0) === '1';
    const { seen } = this;
    for (let index = 2; index + 1 < word.count; index += 2) {
      const xid = parseXid(word.text(index + 1));
      if (seen !== null && (word.number(index) ?? 0) > seen && xid !== null) this.found.push(xid);
    }
    this.seen = Math.max(seen ?? 0, word.number(1) ?? 0);
    return this.found.length > 0;
  }
}
