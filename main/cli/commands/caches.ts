/** `docker caches`: what the containers of each machine share, how much that takes, and the emptying of it. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import {
  cacheNames,
  cacheTargets,
  type CacheName,
  type MachineCaches,
} from '../../../core/contract/caches.js';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { formatSize } from '../../../core/formats/sizes.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { isoTime, table } from '../format.js';

interface CachesOptions {
  readonly machine?: string;
  readonly empty?: boolean;
}

export function addCachesCommand(
  docker: Command,
  context: Context,
  act: (work: () => Promise<number>) => () => Promise<void>,
  machineOf: (context: Context, options: CachesOptions) => Promise<string>,
): void {
  docker
    .command('caches [NAME...]')
    .description(
      `measure what all containers of a machine share, or empty it (NAME: ${cacheNames.join(', ')}; all unless given)`,
    )
    .option('--machine <NAME>', 'of one machine alone; to empty: the only one unless given')
    .option('--empty', 'empty them, while no container runs there: jobs fetch anew what they need')
    .action((names: readonly string[], options: CachesOptions) =>
      act(async () => {
        const known = names.map(cacheNamed);
        const chosen = known.length === 0 ? cacheNames : known;
        if (options.empty !== true) return measureCommand(context, options, chosen);
        return emptyCommand(context, await machineOf(context, options), chosen);
      })(),
    );
}

function cacheNamed(text: string): CacheName {
  const found = cacheNames.find((name) => name === text);
  if (found !== undefined) return found;
  const expected = `one of ${cacheNames.join(', ')}`;
  throw new RefusalError(
    refusal('INVALID_ARGUMENT', `There is no cache ${text}; there is ${expected}.`, [
      { field: 'NAME', value: text, expected },
    ]),
  );
}

async function measureCommand(
  context: Context,
  { machine }: CachesOptions,
  names: readonly CacheName[],
): Promise<number> {
  const known = await context.link.persist((connection) => connection.call('cache.list', {}));
  const machines = machine === undefined ? known.machines.map(({ machineId }) => machineId) : [machine];
  const found = await Promise.all(
    machines.map((machineId) =>
      context.link.persist((connection) => connection.call('cache.measure', { machineId })),
    ),
  );
  if (context.output.json) await context.output.value({ machines: found });
  else
    await context.output.text(
      found.length === 0 ? noneText : found.map((one) => text(one, names)).join('\n'),
    );
  return found.some(({ state }) => state === 'MEASURED') ? exitCodes.ok : exitCodes.refused;
}

const noneText = 'No machine runs containers: irisctl docker check says why.\n';

async function emptyCommand(
  context: Context,
  machineId: string,
  names: readonly CacheName[],
): Promise<number> {
  const params = { requestId: randomUUID(), machineId, names: [...names] };
  const after = await context.link.persist((connection) => connection.call('cache.empty', params));
  const notes = new Map(after.caches.map(({ name, note }) => [name, note]));
  const kept = names.filter((name) => (notes.get(name) ?? null) !== null);
  const emptied = names.filter((name) => !kept.includes(name));
  if (context.output.json) await context.output.value(after);
  else {
    const done = `Emptied on ${machineId}: ${emptied.join(', ')}.${after.removing ? ' What was in them is being removed.' : ''}\n`;
    const not = kept.map((name) => `Not emptied: ${name}. ${notes.get(name) ?? ''}\n`);
    await context.output.text([emptied.length === 0 ? '' : done, ...not, leftText(after)].join(''));
  }
  return kept.length === 0 ? exitCodes.ok : exitCodes.refused;
}

function leftText({ left, machineId }: MachineCaches): string {
  return left === null ? '' : `${machineId}: ${left.message}\n`;
}

function text(found: MachineCaches, names: readonly CacheName[]): string {
  const { machineId, folder, caches, message, measuredAtMs, removing } = found;
  if (message !== null) return `${message}\n`;
  const shown = caches.filter(({ name }) => names.includes(name));
  const sum = shown.reduce((all, { bytes }) => all + (bytes ?? 0), 0);
  const rows = shown.map(({ name, bytes }) => [
    name,
    cacheTargets[name],
    bytes === null ? '-' : formatSize(bytes),
  ]);
  const columns = [
    { title: 'CACHE' },
    { title: 'IN CONTAINERS' },
    { title: 'SIZE', align: 'right' },
  ] as const;
  const at = measuredAtMs === null ? '' : `, measured ${isoTime(measuredAtMs)}`;
  const notes = shown.flatMap(({ name, note }) => (note === null ? [] : [`${name}: ${note}\n`]));
  return [
    `${machineId}: ${formatSize(sum)} in ${folder}${at}\n`,
    table(columns, rows),
    ...notes,
    removing ? 'What was emptied is being removed.\n' : '',
    leftText(found),
  ].join('');
}
