/** What a pass says of the jobs that wait, in the order it tried them. */
import type { WaitCode, WaitingJob } from './decision.js';
import type { JobEntry } from './queue.js';

/** Jobs with one waiting task each, passed over together. */
interface PassedOver {
  /** Place among the others. */
  readonly at: number;
  readonly entries: readonly JobEntry[];
  readonly code: WaitCode;
}

export class WaitingList {
  private readonly said: WaitingJob[] = [];
  private readonly passed: PassedOver[] = [];
  private told: readonly WaitingJob[] | null = null;

  /** Of the same job with the same reason one line is made; `workerId` as the first of its tasks had it. */
  add(jobId: string, code: WaitCode, count: number, workerId?: string): void {
    const { said } = this;
    const last = this.passed.at(-1)?.at === said.length ? undefined : said.at(-1);
    if (last?.jobId === jobId && last.code === code)
      said[said.length - 1] = { ...last, count: last.count + count };
    else said.push({ jobId, code, count, ...(workerId === undefined ? {} : { workerId }) });
  }

  /** A line made before. */
  repeat(line: WaitingJob): void {
    this.said.push(line);
  }

  /** Of each of these jobs one task: a line for each is made only when somebody asks. */
  passOver(entries: readonly JobEntry[], code: WaitCode): void {
    this.passed.push({ at: this.said.length, entries, code });
  }

  /** To be asked for when the pass is over. */
  lines(): readonly WaitingJob[] {
    this.told ??= this.tell();
    return this.told;
  }

  private tell(): readonly WaitingJob[] {
    if (this.passed.length === 0) return this.said;
    const all: WaitingJob[] = [];
    let from = 0;
    for (const { at, entries, code } of this.passed) {
      for (const line of this.said.slice(from, at)) all.push(line);
      for (const { job } of entries) all.push({ jobId: job.id, code, count: 1 });
      from = at;
    }
    for (const line of this.said.slice(from)) all.push(line);
    return all;
  }
}
