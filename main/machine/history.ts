/** Load of one machine over time: every two seconds for an hour, every minute for a week; bounded, and kept over a restart in one file. */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { History } from '../../core/contract/machines.js';

export type LoadFigures = Readonly<Record<string, number | null>>;

const fineStepMs = 2000;
const fineLength = 1800;
const coarseStepMs = 60_000;
const coarseLength = 7 * 24 * 60;
const hourMs = 3_600_000;
/** A graph shows no more. */
const mostPoints = 2000;
const mostSeries = 300;
const saveEveryMs = 600_000;
const mostFileBytes = 32 * 1024 * 1024;

export class LoadHistory {
  private readonly fine = new Ring(fineStepMs, fineLength);
  private readonly coarse = new Ring(coarseStepMs, coarseLength);
  private readonly minute = new Map<string, { sum: number; count: number }>();
  private minuteAt = Number.NaN;
  private savedAtMs = Number.NaN;

  /** Null: it is not kept. */
  constructor(private readonly file: string | null) {
    if (file !== null) this.load(file);
  }

  add(atMs: number, figures: LoadFigures): void {
    this.fine.put(atMs, figures);
    const bucket = Math.floor(atMs / coarseStepMs);
    if (bucket !== this.minuteAt) {
      this.minute.clear();
      this.minuteAt = bucket;
    }
    const means: Record<string, number | null> = {};
    for (const [key, value] of Object.entries(figures)) {
      const known = this.minute.get(key) ?? { sum: 0, count: 0 };
      if (value !== null) this.minute.set(key, { sum: known.sum + value, count: known.count + 1 });
      const { sum, count } = this.minute.get(key) ?? known;
      means[key] = count === 0 ? null : sum / count;
    }
    this.coarse.put(bucket * coarseStepMs, means);
    if (Number.isNaN(this.savedAtMs)) this.savedAtMs = atMs;
    if (Math.abs(atMs - this.savedAtMs) >= saveEveryMs) {
      this.savedAtMs = atMs;
      this.save();
    }
  }

  /** Oldest first. Of more than an hour the minutes, of many of these the means. */
  since(sinceMs: number): History {
    // After a restart the last hour is known in minutes only.
    const whole =
      this.fine.firstMs() <= sinceMs || this.coarse.firstMs() >= this.fine.firstMs() - coarseStepMs;
    const recent = sinceMs >= this.fine.lastMs() - hourMs;
    return recent && whole && !this.fine.isEmpty() ? this.fine.since(sinceMs) : this.coarse.since(sinceMs);
  }

  save(): void {
    if (this.file === null || this.coarse.isEmpty()) return;
    try {
      writeFileSync(`${this.file}.new`, this.coarse.toBytes(), { mode: 0o600 });
      renameSync(`${this.file}.new`, this.file);
    } catch {
      // A full disk costs the graph of the past, nothing else.
    }
  }

  private load(file: string): void {
    try {
      if (statSync(file).size <= mostFileBytes) this.coarse.fromBytes(readFileSync(file));
    } catch {
      // None yet, or of another version.
    }
  }
}

const headSchema = z.strictObject({
  version: z.literal(1),
  count: z.number().int().min(0).max(coarseLength),
  keys: z.array(z.string().max(300)).max(mostSeries),
});

/** A moment takes 8 bytes and 4 a figure. */
class Ring {
  private readonly times: Float64Array;
  private readonly series = new Map<string, Float32Array>();
  private first = 0;
  private count = 0;

  constructor(
    private readonly stepMs: number,
    private readonly length: number,
  ) {
    this.times = new Float64Array(length);
  }

  isEmpty(): boolean {
    return this.count === 0;
  }

  firstMs(): number {
    return this.count === 0 ? Number.POSITIVE_INFINITY : (this.times[this.first] ?? 0);
  }

  lastMs(): number {
    return this.count === 0 ? Number.NEGATIVE_INFINITY : (this.times[this.at(this.count - 1)] ?? 0);
  }

  /** In one step the last word counts. A clock that was set back takes what lies after it away. */
  put(atMs: number, figures: LoadFigures): void {
    const step = Math.floor(atMs / this.stepMs) * this.stepMs;
    while (this.count > 0 && this.lastMs() >= step) this.count -= 1;
    if (this.count === this.length) {
      this.first = (this.first + 1) % this.length;
      this.count -= 1;
    }
    const at = this.at(this.count);
    this.count += 1;
    this.times[at] = step;
    for (const values of this.series.values()) values[at] = Number.NaN;
    let looked = false;
    for (const [key, value] of Object.entries(figures)) {
      let values = this.series.get(key);
      if (values === undefined) {
        if (value === null) continue;
        if (this.series.size >= mostSeries && !looked) {
          looked = true;
          this.forgetEmpty();
        }
        if (this.series.size >= mostSeries) continue;
        values = new Float32Array(this.length).fill(Number.NaN);
        this.series.set(key, values);
      }
      values[at] = value ?? Number.NaN;
    }
  }

  /** Of cards and slices that are gone for as long as is kept. */
  private forgetEmpty(): void {
    for (const [key, values] of this.series) {
      let place = this.count - 1;
      while (place >= 0 && Number.isNaN(values[this.at(place)] ?? Number.NaN)) place -= 1;
      if (place < 0) this.series.delete(key);
    }
  }

  since(sinceMs: number): History {
    let from = 0;
    while (from < this.count && (this.times[this.at(from)] ?? 0) < sinceMs) from += 1;
    const stride = Math.max(1, Math.ceil((this.count - from) / mostPoints));
    const starts: number[] = [];
    for (let start = from; start < this.count; start += stride) starts.push(start);
    return {
      stepMs: this.stepMs * stride,
      timesMs: starts.map((start) => this.times[this.at(start)] ?? 0),
      series: [...this.series].map(([key, values]) => ({
        key,
        values: starts.map((start) => this.mean(values, start, Math.min(this.count, start + stride))),
      })),
    };
  }

  toBytes(): Buffer {
    const keys = [...this.series.keys()];
    const head = Buffer.from(`${JSON.stringify({ version: 1, count: this.count, keys })}\n`);
    const body = Buffer.alloc(this.count * (8 + 4 * keys.length));
    let offset = 0;
    for (let place = 0; place < this.count; place += 1) {
      const at = this.at(place);
      offset = body.writeDoubleLE(this.times[at] ?? 0, offset);
      for (const key of keys) offset = body.writeFloatLE(this.series.get(key)?.[at] ?? Number.NaN, offset);
    }
    return Buffer.concat([head, body]);
  }

  /** Throws on anything that is not what `toBytes` wrote. */
  fromBytes(bytes: Buffer): void {
    const end = bytes.indexOf('\n');
    const { count, keys } = headSchema.parse(JSON.parse(bytes.toString('utf8', 0, end)));
    const body = bytes.subarray(end + 1);
    if (body.length !== count * (8 + 4 * keys.length)) throw new Error('cut short');
    let offset = 0;
    for (let place = 0; place < count; place += 1) {
      const atMs = body.readDoubleLE(offset);
      offset += 8;
      const figures: Record<string, number | null> = {};
      for (const key of keys) {
        const value = body.readFloatLE(offset);
        figures[key] = Number.isNaN(value) ? null : value;
        offset += 4;
      }
      this.put(atMs, figures);
    }
  }

  private at(place: number): number {
    return (this.first + place) % this.length;
  }

  private mean(values: Float32Array, from: number, to: number): number | null {
    let sum = 0;
    let known = 0;
    for (let place = from; place < to; place += 1) {
      const value = values[this.at(place)] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      sum += value;
      known += 1;
    }
    return known === 0 ? null : sum / known;
  }
}
