/** Tells of the last line of a container as it is heard, for as long as its place in the log is not known, and when it is no more. */
import type { LogHeard } from '../../backend.js';
import type { LiveOutput } from './live-output.js';

export class HeardLine {
  private told: LogHeard | null = null;

  constructor(private readonly onHeard: (heard: LogHeard | null) => void) {}

  look(live: LiveOutput | null): void {
    const textOf = (stream: 'out' | 'err'): string => (live === null ? '' : textAt(live.unplacedEnd(stream)));
    this.tell({ out: textOf('out'), err: textOf('err') });
  }

  end(): void {
    this.tell({ out: '', err: '' });
  }

  private tell({ out, err }: LogHeard): void {
    if (out === (this.told?.out ?? '') && err === (this.told?.err ?? '')) return;
    this.told = out === '' && err === '' ? null : { out, err };
    this.onHeard(this.told);
  }
}

/** What begins or ends in the middle of a letter is told without its part. */
function textAt(data: Uint8Array): string {
  let from = 0;
  while (from < 3 && from < data.length && ((data[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(data.subarray(from), { stream: true });
}
