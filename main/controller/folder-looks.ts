/**
 * Whether the working folder of a job that is being written is there, on the machines it would go to. Only what comes at once is waited
 * for: a file system that hangs, or a machine far away, is heard in a later check, and never asked the same thing twice meanwhile.
 */
import type { FieldError } from '../../core/contract/errors.js';
import type { DryRun } from '../../core/contract/explanation.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import type { Backend } from '../backends/backend.js';

const waitMs = 500;
/** Looks at one machine that may be unanswered: while each letter typed names another folder of a disk that hangs. */
const mostUnanswered = 4;
const mostRemembered = 200;
/** Machines of one job that are asked. */
const mostMachines = 4;

interface Look {
  /** As it was found last; null: not known. */
  found: boolean | null;
  /** While nobody has answered. */
  asking: Promise<void> | null;
}

export class FolderLooks {
  private readonly looks = new Map<string, Look>();
  private readonly unanswered = new Map<string, number>();

  constructor(private readonly backend: Pick<Backend, 'hasFolder'>) {}

  /** What is to be said beside the field; nothing of machines that did not answer. */
  async missing(spec: JobSpec, dryRun: DryRun | null): Promise<FieldError[]> {
    const machines = machinesOf(spec, dryRun);
    const { workingDirectory: folder } = spec;
    const found = await Promise.all(machines.map((id) => this.look(id, folder)));
    const without = machines.filter((_id, at) => found[at] === false);
    if (without.length === 0) return [];
    const expected = `a folder that exists on ${without.join(' and ')} and may be entered`;
    return [{ field: 'workingDirectory', value: folder, expected }];
  }

  private async look(machine: string, folder: string): Promise<boolean | null> {
    const key = `${machine} ${folder}`;
    const look = this.looks.get(key) ?? { found: null, asking: null };
    // Last in the order, as what was asked longest ago is forgotten first.
    this.looks.delete(key);
    this.looks.set(key, look);
    for (const [old, { asking }] of this.looks) {
      if (this.looks.size <= mostRemembered) break;
      if (asking === null) this.looks.delete(old);
    }
    const count = this.unanswered.get(machine) ?? 0;
    if (look.asking !== null || count >= mostUnanswered || this.backend.hasFolder === undefined)
      return look.found;
    this.unanswered.set(machine, count + 1);
    look.asking = this.backend
      .hasFolder(machine, folder)
      .catch(() => null)
      .then((found) => {
        look.found = found;
        look.asking = null;
        this.unanswered.set(machine, (this.unanswered.get(machine) ?? 1) - 1);
      });
    await soon(look.asking);
    return look.found;
  }
}

/** Where it would start now; of one that waits only the machine it names. */
function machinesOf({ machine }: JobSpec, dryRun: DryRun | null): readonly string[] {
  const places = new Set(dryRun?.places.map(({ workerId }) => workerId));
  if (places.size === 0 && machine !== null) places.add(machine);
  return [...places].slice(0, mostMachines);
}

async function soon(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
