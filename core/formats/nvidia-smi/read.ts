/** Reads whatever the tool printed: what it is, is told by its text. */
import type { NvidiaReading } from './card.js';
import { failureSentence } from './failures.js';
import { cardsOfTable } from './table.js';
import { cardsOfText } from './text.js';
import { parseNvidiaSmi } from './xml.js';

export function readNvidiaSmi(text: string): NvidiaReading {
  if (text.includes('<?xml')) return parseNvidiaSmi(text);
  const cards = cardsOfTable(text) ?? cardsOfText(text);
  return cards === null
    ? { ok: false, reason: failureSentence(text) }
    : {
        ok: true,
        driverVersion: /Driver Version\s*:\s*(\d[\d.]*)/.exec(text)?.[1] ?? null,
        cards,
      };
}
