/** `job hold`, `release`, `band` and `move`: what may be changed of jobs that are not over. */
import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, type Command } from 'commander';
import type { JobChange } from '../../../core/contract/queue.js';
import type { Band } from '../../../core/contract/states.js';
import { bandSchema } from '../../../core/contract/state-schemas.js';
import type { Context } from '../context.js';
import { resolveTargets } from '../targets.js';
import { inBatches, reportTargets, type TargetOptions } from './stop-retry.js';

type Act = (work: () => Promise<number>) => () => Promise<void>;

export function addChangeCommands(job: Command, context: Context, act: Act): void {
  const change = (ids: readonly string[], options: TargetOptions, asked: JobChange, word: string) =>
    act(() => changeCommand(context, ids, options, asked, word))();
  const stdin = ['--stdin', 'read ids from standard input, one a line'] as const;
  job
    .command('hold [IDS...]')
    .description('keep jobs from starting until they are released; what runs goes on')
    .option(...stdin)
    .action((ids: string[], options: TargetOptions) => change(ids, options, { kind: 'hold' }, 'held'));
  job
    .command('release [IDS...]')
    .description('let held jobs start')
    .option(...stdin)
    .action((ids: string[], options: TargetOptions) => change(ids, options, { kind: 'release' }, 'released'));
  job
    .command('band <BAND> [IDS...]')
    .description('put waiting jobs into another band: production, interactive or batch')
    .option(...stdin)
    .action((band: string, ids: string[], options: TargetOptions) =>
      change(ids, options, { kind: 'band', band: bandOf(band) }, `now ${band.toLowerCase()}`),
    );
  job
    .command('move <PLACE> [IDS...]')
    .description('move jobs among your own of the same band: first, last, or back to their usual place')
    .option(...stdin)
    .action((place: string, ids: string[], options: TargetOptions) =>
      change(ids, options, { kind: 'move', to: placeOf(place) }, `moved (${place})`),
    );
}

async function changeCommand(
  context: Context,
  named: readonly string[],
  options: TargetOptions,
  change: JobChange,
  word: string,
): Promise<number> {
  const ids = await resolveTargets(context, named, options.stdin === true);
  const results = await inBatches(ids, (jobIds) => {
    const requestId = randomUUID();
    return context.link.persist((connection) =>
      connection.call('job.change', { requestId, jobIds: [...jobIds], change }),
    );
  });
  return await reportTargets(context, results, ({ id }) => `${id} ${word}`);
}

function bandOf(text: string): Band {
  const band = bandSchema.safeParse(text.trim().toUpperCase());
  if (band.success) return band.data;
  throw new InvalidArgumentError(`${text} is no band; expected system, production, interactive or batch.`);
}

function placeOf(text: string): 'first' | 'last' | 'usual' {
  if (text === 'first' || text === 'last' || text === 'usual') return text;
  throw new InvalidArgumentError(`${text} is no place; expected first, last or usual.`);
}
