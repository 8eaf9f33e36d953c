/** `budget set`, `budget get` and `budget list`. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Params } from '../../../core/contract/api.js';
import { budgetChangeSchema, type BudgetView, type GpuHoursView } from '../../../core/contract/budgets.js';
import { halfLifeToText, textToHalfLife } from '../../../core/contract/half-life.js';
import { upperBandSchema, bandSchema } from '../../../core/contract/state-schemas.js';
import { upperBands, bands, type UpperBand, type Band } from '../../../core/contract/states.js';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { fieldErrors } from '../../../core/contract/job-request.js';
import { quotaToText, textToQuota } from '../../../core/contract/quota-text.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { table } from '../format.js';

interface BudgetOptions {
  readonly limit?: string;
  readonly maxBand?: string;
  readonly allow?: readonly string[];
  readonly disallow?: readonly string[];
  readonly quota?: string;
  readonly halfLife?: string;
}

type Act = (work: () => Promise<number>) => () => Promise<void>;
type Change = Params<'budget.set'>['change'];

export function addBudgetCommands(parent: Command, context: Context, act: Act): void {
  const budget = parent.command('budget').description('limits of users, and the bands they may ask for');
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  budget
    .command('set [USER]')
    .description('change what is named, leave the rest as it is; for the owner of the data folder')
    .option(
      '--half-life <DURATION>',
      'for all users: past use counts half after it, and orders users; off: they are ordered by what they use now',
    )
    .option('--limit <N>', 'value in use that is not to be passed; 0 or unlimited, or default')
    .option('--max-band <BAND>', 'best band that may be asked for: interactive or batch')
    .option('--allow <BANDS>', 'grant the right to production or system, with commas or repeated', collect)
    .option('--disallow <BANDS>', 'take the right away', collect)
    .option(
      '--quota <BOUNDS>',
      'most that may be active at once: gpus=4,cores=16,memory=64GB,tasks=10, or none',
    )
    .action((user: string | undefined, options: BudgetOptions) =>
      act(() => setCommand(context, user, options))(),
    );
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

async function setCommand(
  context: Context,
  user: string | undefined,
  { halfLife, ...options }: BudgetOptions,
): Promise<number> {
  if (halfLife !== undefined) {
    if (user !== undefined || Object.keys(options).length > 0) {
      const asked = user === undefined ? 'with other options' : `for ${user}`;
      throw wrong('--half-life', asked, 'neither a user nor another option: it holds for the whole cluster');
    }
    return await setHalfLife(context, halfLife);
  }
  if (user === undefined)
    throw wrong('USER', 'none', 'the name of a user, or --half-life, which holds for all of them');
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

async function setHalfLife(context: Context, text: string): Promise<number> {
  const read = textToHalfLife(text);
  if (!read.ok) throw wrong('--half-life', text, read.refusal.fields[0]?.expected ?? 'a duration, or off');
  const requestId = randomUUID();
  const { halfLifeMs } = await context.link.persist((connection) =>
    connection.call('budget.halfLife', { requestId, halfLifeMs: read.value }),
  );
  if (context.output.json) await context.output.value({ halfLifeMs });
  else await context.output.text(halfLifeLine(halfLifeMs));
  return exitCodes.ok;
}

function halfLifeLine(halfLifeMs: number | null): string {
  return halfLifeMs === null
    ? 'Half-life of past use: off. Users are ordered by what they use now.\n'
    : `Half-life of past use: ${halfLifeToText(halfLifeMs)}. Users are ordered by their faded GPU-hours.\n`;
}

async function getCommand(context: Context, user: string): Promise<number> {
  return await show(
    context,
    await context.link.persist((connection) => connection.call('budget.get', { user })),
  );
}

async function listCommand(context: Context): Promise<number> {
  const { output } = context;
  const { budgets, halfLifeMs } = await context.link.persist((connection) =>
    connection.call('budget.list', {}),
  );
  if (output.json) await output.value(budgets);
  else await output.text(`${budgetTable(budgets)}${halfLifeMs === null ? '' : halfLifeLine(halfLifeMs)}`);
  return exitCodes.ok;
}

async function show(context: Context, budget: BudgetView): Promise<number> {
  const { output } = context;
  if (output.json) await output.value(budget);
  else await output.text(`${budgetTable([budget])}\n${partsTable(budget)}`);
  return exitCodes.ok;
}

/** What is used by what it is used for. */
function partsTable({ spend, used, faded }: BudgetView): string {
  const columns: { title: string; shown: GpuHoursView; show: (value: number) => string }[] = [
    { title: 'NOW', shown: spend, show: String },
    { title: 'GPU-HOURS', shown: used, show: hoursText },
    ...(faded === null ? [] : [{ title: 'FADED', shown: faded, show: hoursText }]),
  ];
  return table(
    [{ title: 'PART' }, ...columns.map(({ title }) => ({ title, align: 'right' as const }))],
    (['gpus', 'memory', 'processors', 'total'] as const).map((part) => [
      part,
      ...columns.map(({ shown, show }) => show(shown[part])),
    ]),
  );
}

function hoursText(hours: number): string {
  return hours.toFixed(hours < 100 ? 2 : 0);
}

function budgetTable(budgets: readonly BudgetView[]): string {
  const fades = budgets.some(({ faded }) => faded !== null);
  return table(
    [
      { title: 'USER' },
      { title: 'LIMIT', align: 'right' },
      { title: 'SPENT', align: 'right' },
      { title: 'OF WHICH GPU', align: 'right' },
      { title: 'GPU-HOURS', align: 'right' },
      ...(fades ? [{ title: 'FADED', align: 'right' as const }] : []),
      { title: 'MAX BAND' },
      { title: 'RIGHTS' },
      { title: 'QUOTA' },
    ],
    budgets.map((budget) => [
      budget.user,
      `${budget.limit}${budget.limitIsDefault ? ' (default)' : ''}`,
      `${budget.spend.total}${budget.overLimit ? ' (over)' : ''}`,
      String(budget.spend.gpus),
      hoursText(budget.used.total),
      ...(fades ? [budget.faded === null ? '-' : hoursText(budget.faded.total)] : []),
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
