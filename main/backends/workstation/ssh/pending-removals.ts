/**
 * Removals by force that have begun: each is written down before anything is stopped, and taken away when all is over. What the end of the
 * controller has interrupted is finished at its next start: whatever of ours lives there is stopped, as nothing of it is wanted.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { LinkLog } from '../process/launcher-link.js';
import { writeWhole } from './machine-memory.js';
import type { SshMachine } from './ssh-machine-options.js';

const memberSchema = z.object({ id: z.string(), address: z.string(), identity: z.string().nullable() });
type Member = z.infer<typeof memberSchema>;

export interface PendingRemovalsOptions {
  readonly home: string;
  readonly log: LinkLog;
  readonly open: (member: Member) => SshMachine;
  readonly sayAfterMs?: number | undefined;
}

interface Pending {
  readonly member: Member;
  readonly machine: SshMachine;
  readonly late: NodeJS.Timeout;
}

/** Until then one that is off may come back without a word. */
const usualSayMs = 60_000;

export class PendingRemovals {
  private readonly open = new Map<string, Pending>();

  constructor(private readonly options: PendingRemovalsOptions) {}

  begin(member: Member): void {
    writeWhole(this.file(member.id), JSON.stringify(member));
  }

  done(id: string): void {
    rmSync(this.file(id), { force: true });
  }

  /** It is in use again, by whatever name: what runs there now is wanted. */
  usedAgain({ id, address, identity }: Member): void {
    this.done(id);
    for (const { member } of this.open.values())
      if (member.address === address || (identity !== null && member.identity === identity))
        this.leave(member.id);
  }

  /** Once all machines of the cluster are known. */
  resume(): void {
    for (const member of this.left()) {
      const machine = this.options.open(member);
      const late = setTimeout(
        () =>
          this.options.log.warn('A removed machine may go on with tasks: it is not in contact', {
            machine: member.id,
            why: machine.observe()[0]?.contact?.message ?? '',
          }),
        this.options.sayAfterMs ?? usualSayMs,
      );
      late.unref();
      this.open.set(member.id, { member, machine, late });
      const looked = (): void => {
        // Nothing of ours lives there any more, in containers neither.
        if (machine.observe()[0]?.state !== 'HEALTHY' || this.open.get(member.id)?.machine !== machine)
          return;
        this.options.log.info('The removal of a machine was finished', { machine: member.id });
        this.leave(member.id);
        machine.forget();
      };
      void machine.start({ observations: () => undefined, logGrew: () => undefined, workers: looked });
      machine.reconcile([]);
    }
  }

  async close(): Promise<void> {
    const all = [...this.open.values()];
    this.open.clear();
    for (const { late } of all) clearTimeout(late);
    await Promise.all(all.map(({ machine }) => machine.close()));
  }

  private leave(id: string): void {
    const pending = this.open.get(id);
    this.open.delete(id);
    this.done(id);
    if (pending === undefined) return;
    clearTimeout(pending.late);
    void pending.machine.close();
  }

  private left(): Member[] {
    const { home } = this.options;
    // There is no such folder before the first machine.
    const all = existsSync(home) ? readdirSync(home) : [];
    return all.flatMap((name) => {
      if (!/^leaving-.*\.json$/.test(name)) return [];
      const read = memberSchema.safeParse(parsed(path.join(home, name)));
      return read.success ? [read.data] : [];
    });
  }

  private file(id: string): string {
    return path.join(this.options.home, `leaving-${id}.json`);
  }
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null; // cut by a crash: it had not begun
  }
}
