/** What is remembered of a machine between two lives of the controller: who it is, and what it had. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { messageOf } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';

const factsSchema = z.object({
  machineId: z.string(),
  bootId: z.string(),
  hostname: z.string(),
  platform: z.string(),
  cpuModel: z.string(),
  cpuCount: z.number().int().min(1),
  memoryBytes: z.number().min(0),
});
export type MachineFacts = z.infer<typeof factsSchema>;

function factsFile(home: string, name: string): string {
  return path.join(home, `${name}.json`);
}

/** Null: it was never in contact. */
export function recallFacts(home: string, name: string): MachineFacts | null {
  try {
    return factsSchema.parse(JSON.parse(readFileSync(factsFile(home, name), 'utf8')));
  } catch {
    return null; // none there, or cut by a crash: then it is met anew
  }
}

/** A full disk here costs what is known of a machine while it is off, nothing else. */
export function rememberFacts(
  { home, name, log }: { readonly home: string; readonly name: string; readonly log: Pick<LinkLog, 'warn'> },
  facts: MachineFacts,
): void {
  try {
    writeWhole(factsFile(home, name), `${JSON.stringify(facts, null, 2)}\n`);
  } catch (error) {
    log.warn('What a machine has could not be written down', { machine: name, error: messageOf(error) });
  }
}

/** The next of that name may be another. */
export function forgetMachine(home: string, name: string): void {
  for (const file of [factsFile(home, name), loadFile(home, name), cardsFile(home, name)])
    rmSync(file, { force: true });
}

export function loadFile(home: string, name: string): string {
  return path.join(home, `load-${name}`);
}

/** Of its cards that are kept from jobs. */
export function cardsFile(home: string, name: string): string {
  return path.join(home, `cards-${name}.json`);
}

/** Host keys accepted by us, in the form of OpenSSH. */
export function ownKnownHosts(home: string): string {
  return path.join(home, 'known_hosts');
}

/** Names this controller's folder on other machines: several may work there for one login. Made once and kept. */
export function controllerId(home: string): string {
  const file = path.join(home, 'controller-id');
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (/^[0-9a-f]{12}$/.test(text)) return text;
  } catch {
    // Not made yet.
  }
  const id = randomBytes(6).toString('hex');
  writeWhole(file, `${id}\n`);
  return id;
}

/** Whole or not there at all. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}
