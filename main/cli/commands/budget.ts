/** `budget set`, `budget get` and `budget list`. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Params } from '../../../core/contract/api.js';
import {
  budgetChangeSchema,
  upperBandSchema,
  upperBands,
  type BudgetView,
  type UpperBand,
} from '../../../core/contract/budgets.js';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { fieldErrors } from '../../../core/contract/job-request.js';
import { quotaToText, textToQuota } from '../../../core/contract/quota-text.js';
import { bands, bandSchema, type Band } from '../../../core/contract/states.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { table } from '../format.js';

interface BudgetOptions {
  readonly limit?: string;
  readonly maxBand?: string;
  readonly allow?: readonly string[];
  readonly disallow?: readonly string[];
  readonly quota?: string;
}

type Act = (work: () => Promise<number>) => () => Promise<void>;
type Change = Params<'budget.set'>['change'];

export function addBudgetCommands(parent: Command, context: Context, act: Act): void {
  const budget = parent.command('budget').description('limits of users, and the bands they may ask for');
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  budget
    .command('set <USER>')
    .description('change what is named, leave the rest as it is; for the owner of the data folder')
    .option('--limit <N>', 'value in use that is not to be passed; 0 or unlimited, or default')
    .option('--max-band <BAND>', 'best band that may be asked for: interactive or batch')
    .option('--allow <BANDS>', 'grant the right to production or system, with commas or repeated', collect)
    .option('--disallow <BANDS>', 'take the right away', collect)
    .option(
      '--quota <BOUNDS>',
      'most that may be active at once: gpus=4,cores=16,memory=64GB,tasks=10, or none',
    )
    .action((user: string, options: BudgetOptions) => act(() => setCommand(context, user, options))());
  budget
    .command('get <USER>')
    .description('show what holds for a user')
    .action((user: string) => act(() => getCommand(context, user))());
  budget
    .command('list')
    .alias('ls')
    .description('list users with a budget or with something active')
    .action(act(() => listCommand(context)));
}

async function setCommand(context: Context, user: string, options: BudgetOptions): Promise<number> {
  const change = changeOf(options);
  const requestId = randomUUID();
  const budget = await context.link.persist((connection) =>
    connection.call('budget.set', { requestId, user, change }),
  );
  const asked = upperBandSchema.safeParse(change.maxBand);
  if (asked.success && !budget.allow.includes(asked.data)) {
    const word = asked.data.toLowerCase();
    await context.output.note(`a best band of ${word} gives no right to it; add --allow ${word}.`);
  }
  return await show(context, budget);
}

async function getCommand(context: Context, user: string): Promise<number> {
  return await show(
    context,
    await context.link.persist((connection) => connection.call('budget.get', { user })),
  );
}

async function listCommand(context: Context): Promise<number> {
  const { output } = context;
  const { budgets } = await context.link.persist((connection) => connection.call('budget.list', {}));
  if (output.json) await output.value(budgets);
  else await output.text(budgetTable(budgets));
  return exitCodes.ok;
}

async function show(context: Context, budget: BudgetView): Promise<number> {
  const { output } = context;
  if (output.json) await output.value(budget);
  else await output.text(budgetTable([budget]));
  return exitCodes.ok;
}

function budgetTable(budgets: readonly BudgetView[]): string {
  return table(
    [
      { title: 'USER' },
      { title: 'LIMIT', align: 'right' },
      { title: 'SPENT', align: 'right' },
      { title: 'OF WHICH GPU', align: 'right' },
      { title: 'MAX BAND' },
      { title: 'RIGHTS' },
      { title: 'QUOTA' },
    ],
    budgets.map((budget) => [
      budget.user,
      `${budget.limit}${budget.limitIsDefault ? ' (default)' : ''}`,
      `${budget.spend.total}${budget.overLimit ? ' (over)' : ''}`,
      String(budget.spend.gpus),
      budget.maxBand.toLowerCase(),
      budget.allow.length === 0 ? '-' : budget.allow.join(', ').toLowerCase(),
      quotaToText(budget.quota) || '-',
    ]),
  );
}

function changeOf(options: BudgetOptions): Change {
  const change: Change = {
    allow: upperBandsOf('--allow', options.allow),
    disallow: upperBandsOf('--disallow', options.disallow),
  };
  if (options.maxBand !== undefined) change.maxBand = bandOf('--max-band', options.maxBand);
  if (options.quota !== undefined) {
    const quota = textToQuota(options.quota);
    if (!quota.ok) throw new RefusalError(quota.refusal);
    change.quota = quota.value;
  }
  if (options.limit === undefined) return change;
  // In the original's words 0 is no limit.
  const text = options.limit.trim().toLowerCase();
  const limit = /^0+$/.test(text) ? 'unlimited' : /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  const parsed = budgetChangeSchema.safeParse({ ...change, limit });
  if (parsed.success) return parsed.data;
  const expected = fieldErrors(parsed.error, { limit })[0]?.expected ?? 'a limit';
  throw wrong('--limit', options.limit, expected);
}

function bandOf(flag: string, text: string): Band {
  const parsed = bandSchema.safeParse(text.trim().toUpperCase());
  if (parsed.success) return parsed.data;
  throw wrong(flag, text, `one of ${bands.join(', ').toLowerCase()}`);
}

function upperBandsOf(flag: string, words: readonly string[] = []): UpperBand[] {
  return words
    .flatMap((word) => word.split(','))
    .map((word) => {
      const parsed = upperBandSchema.safeParse(word.trim().toUpperCase());
      if (parsed.success) return parsed.data;
      throw wrong(flag, word, `${upperBands.join(' or ').toLowerCase()}; the other bands need no right`);
    });
}

function wrong(field: string, value: string, expected: string): RefusalError {
  return new RefusalError(
    refusal('INVALID_ARGUMENT', `${field}: ${value} is not valid; expected ${expected}.`, [
      { field, value, expected },
    ]),
  );
}
