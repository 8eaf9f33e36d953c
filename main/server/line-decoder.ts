/** Cuts a byte stream into lines without scanning any byte twice; bounded by the longest line allowed. */
export class LineDecoder {
  private readonly parts: Buffer[] = [];
  private held = 0;

  constructor(private readonly maxLineBytes: number) {}

  /** Complete lines of what came so far, or null when one is longer than allowed. */
  push(chunk: Buffer): string[] | null {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, start);
      if (end === -1) break;
      const tail = chunk.subarray(start, end);
      if (this.held + tail.length > this.maxLineBytes) return null;
      if (this.held === 0) {
        lines.push(tail.toString('utf8'));
      } else {
        this.parts.push(tail);
        lines.push(Buffer.concat(this.parts).toString('utf8'));
        this.parts.length = 0;
        this.held = 0;
      }
      start = end + 1;
    }
    if (start < chunk.length) {
      const rest = chunk.subarray(start);
      this.held += rest.length;
      if (this.held > this.maxLineBytes) return null;
      this.parts.push(rest);
    }
    return lines;
  }
}
