/** Errors of cards in the kernel's log: `NVRM: Xid (PCI:0000:cf:00): 79, pid=4001, GPU has fallen off the bus.` */
import { busIdOf } from './words.js';

export interface Xid {
  readonly busId: string;
  readonly code: number;
  /** The driver's words after the code. */
  readonly detail: string;
}

export function parseXid(line: string): Xid | null {
  const match = /NVRM: Xid \(PCI:([0-9a-f:.]+)\): (\d+),?\s*(.*)$/i.exec(line);
  const busId = busIdOf(match?.[1] ?? '');
  return match === null || busId === null
    ? null
    : { busId, code: Number(match[2]), detail: (match[3] ?? '').trim().slice(0, 200) };
}

/** What those mean after which a card is not to be trusted; the others are faults of the programs that ran on it. */
const serious: Readonly<Record<number, string>> = {
  48: 'memory error that could not be corrected',
  63: 'a faulty memory row was marked to be replaced',
  64: 'a faulty memory row could not be replaced',
  74: 'NVLink error',
  79: 'the card has fallen off the bus',
  92: 'many memory errors that were corrected',
  94: 'memory error, kept to one program',
  95: 'memory error that was not contained',
  119: "the card's own processor does not answer",
  120: "the card's own processor stopped with an error",
  140: 'memory error that could not be corrected',
  143: 'the card could not be initialised',
  154: 'the card asks to be reset',
};

/** Null for one that says nothing against the card. */
export function seriousXid({ code }: Xid): string | null {
  return serious[code] ?? null;
}
