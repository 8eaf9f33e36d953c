/** A log as lines for people: letters cut between pieces joined, progress bars shown as their last state, long lines shortened. */
import { Utf8Reader } from './utf8.js';

const usualMost = 64 * 1024;

/**
 * Takes bytes in pieces of any size and gives whole lines. A carriage return begins the line anew, as on a terminal, so five
 * megabytes of a progress bar take the room of its last state. What a line has beyond `mostLetters` is left out with a mark.
 */
export class LogLineReader {
  private readonly letters = new Utf8Reader();
  private line = '';
  private left = 0;
  /** A carriage return was seen: it begins the line anew unless the line ends here. */
  private returned = false;

  constructor(private readonly mostLetters = usualMost) {}

  push(piece: Uint8Array): string[] {
    return this.read(this.letters.push(piece));
  }

  /** The last line when it has no end, once nothing more comes. */
  end(): string[] {
    const lines = this.read(this.letters.end());
    if (this.line !== '') lines.push(this.take());
    return lines;
  }

  /** Of the line that has not ended. */
  get keptLetters(): number {
    return this.line.length;
  }

  private read(text: string): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const letter = text[at];
      if (letter !== '\n' && letter !== '\r') continue;
      this.add(text.slice(from, at));
      from = at + 1;
      if (letter === '\r') this.returned = true;
      else lines.push(this.take());
    }
    this.add(text.slice(from));
    return lines;
  }

  private add(text: string): void {
    if (text === '') return;
    if (this.returned) this.take();
    const room = this.mostLetters - this.line.length;
    this.line += text.slice(0, room);
    this.left += Math.max(0, text.length - room);
  }

  private take(): string {
    const line = this.left === 0 ? this.line : `${this.line}... (${this.left} more)`;
    this.line = '';
    this.left = 0;
    this.returned = false;
    return line;
  }
}
