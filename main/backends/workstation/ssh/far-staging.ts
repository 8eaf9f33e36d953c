/** Files of attempts on their way to another machine: each is sent once, however many start with it at the same moment. */
import type { FarFile } from './far-start.js';
import type { FarText, FarWord } from './far-words.js';

interface Asked {
  readonly uid: string;
  readonly files: readonly FarFile[];
  /** Of the question. */
  readonly number: number;
}

export class FarStaging {
  /** Starts whose files the hand was asked about, in order. */
  private asking: Asked[] = [];
  private questions = 0;
  /** By hash: the last question that was asked before it was sent, which the hand answers without it. */
  private readonly sent = new Map<string, number>();

  /** Another connection, or none. */
  reset(): void {
    this.asking = [];
    this.sent.clear();
  }

  /** What the hand is to be asked. */
  ask(uid: string, files: readonly FarFile[]): readonly FarText[] {
    this.questions += 1;
    this.asking.push({ uid, files, number: this.questions });
    return ['has', ...files.flatMap(({ hash, content }) => [hash, String(content.length)])];
  }

  /** The answer to the first question: who may start with what once all that is lacking was sent. */
  answered(word: FarWord, send: (...texts: readonly FarText[]) => void): Omit<Asked, 'number'> | null {
    const asked = this.asking.shift();
    if (asked === undefined) return null;
    const lacking = new Set(Array.from({ length: word.count }, (_, index) => word.text(index)));
    for (const { hash, content } of asked.files) {
      if (!lacking.delete(hash) || (this.sent.get(hash) ?? 0) >= asked.number) continue;
      send('put', hash, content);
      this.sent.set(hash, this.questions);
    }
    if (this.asking.length === 0) this.sent.clear();
    return asked;
  }
}
