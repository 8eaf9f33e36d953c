/**
 * Which cards are kept from jobs, and why. A card is taken out when it is lost to the driver, says itself that it needs a repair,
 * counts new memory errors, or the kernel's log names it; it comes back by hand, or when looks at it have found nothing wrong for a while.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { NvidiaCard } from '../../core/formats/nvidia-smi/card.js';
import { seriousXid, type Xid } from '../../core/formats/nvidia-smi/xid.js';

const sicknessSchema = z.object({ reason: z.string().max(1000), lastTroubleMs: z.number() });
const fileSchema = z.object({ bootId: z.string(), cards: z.record(z.string(), sicknessSchema) });
type Sickness = z.infer<typeof sicknessSchema>;

export interface GpuHealthOptions {
  readonly nowMs: () => number;
  /** Kept there over a restart of this program; a restart of the machine resets its cards, so that they are judged anew. */
  readonly file: string | null;
  readonly bootId: string;
  readonly cleanAfterMs?: number | undefined;
}

const defaultCleanAfterMs = 600_000;

export class GpuHealth {
  private readonly sick: Map<string, Sickness>;
  private readonly ecc = new Map<string, number>();

  constructor(private readonly options: GpuHealthOptions) {
    this.sick = new Map(Object.entries(readSick(options)));
  }

  reasonOf(uuid: string): string | null {
    return this.sick.get(uuid)?.reason ?? null;
  }

  isEmpty(): boolean {
    return this.sick.size === 0;
  }

  /** It does not answer, or is not even listed. */
  lost(uuid: string, reason: string): void {
    this.quarantine(uuid, reason);
  }

  /** One that answers. `probe`: it was asked for all there is, so finding nothing wrong means something. */
  seen(card: Pick<NvidiaCard, 'uuid' | 'eccUncorrected' | 'trouble'>, probe: boolean): void {
    const before = this.ecc.get(card.uuid);
    if (card.eccUncorrected !== null) this.ecc.set(card.uuid, card.eccUncorrected);
    if (card.trouble !== null) this.quarantine(card.uuid, card.trouble);
    else if (before !== undefined && card.eccUncorrected !== null && card.eccUncorrected > before) {
      const count = card.eccUncorrected - before;
      const errors = count === 1 ? '1 new memory error' : `${count} new memory errors`;
      this.quarantine(card.uuid, `${errors} that could not be corrected.`);
    } else if (probe) this.probedClean(card.uuid);
  }

  xid(uuid: string, xid: Xid): void {
    const meaning = seriousXid(xid);
    if (meaning === null) return;
    const detail = xid.detail === '' ? '' : ` (${xid.detail})`;
    this.quarantine(uuid, `The kernel's log has Xid ${xid.code} of it: ${meaning}${detail}.`);
  }

  /** False: it was not kept from jobs. */
  release(uuid: string): boolean {
    const was = this.sick.delete(uuid);
    if (was) this.write();
    return was;
  }

  private probedClean(uuid: string): void {
    const sickness = this.sick.get(uuid);
    if (sickness === undefined) return;
    const sinceMs = this.options.nowMs() - sickness.lastTroubleMs;
    if (sinceMs >= (this.options.cleanAfterMs ?? defaultCleanAfterMs)) this.release(uuid);
  }

  private quarantine(uuid: string, reason: string): void {
    const before = this.sick.get(uuid);
    this.sick.set(uuid, { reason, lastTroubleMs: this.options.nowMs() });
    if (before?.reason !== reason) this.write();
  }

  private write(): void {
    const { file, bootId } = this.options;
    if (file === null) return;
    const cards = Object.fromEntries(this.sick);
    try {
      writeFileSync(`${file}.new`, JSON.stringify({ bootId, cards }), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch {
      // Kept in memory all the same; a card in trouble shows it again after a restart.
    }
  }
}

function readSick({ file, bootId }: GpuHealthOptions): Readonly<Record<string, Sickness>> {
  if (file === null) return {};
  try {
    const kept = fileSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    return kept.success && kept.data.bootId === bootId ? kept.data.cards : {};
  } catch {
    return {}; // none yet, or cut short
  }
}
