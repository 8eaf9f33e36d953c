/** `machine ...`: what machines there are, adding and removing one, and what is set of them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { methods, type Params } from '../../../core/contract/api.js';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { expectedWords, fieldErrors } from '../../../core/contract/field-errors.js';
import type { MachineChange, MachineCheck, MachineView } from '../../../core/contract/machines.js';
import { durationExpected, parseDuration } from '../../../core/formats/durations.js';
import { checkMachineChange } from '../../../core/model/machine-change.js';
import { answerQuestions } from '../answer-questions.js';
import type { Connection } from '../connection.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { table } from '../format.js';
import { machineLines, machineTable, stateWord } from '../machine-text.js';
import type { JobOfAttempt } from './machine-gpus.js';

type Act = (work: () => Promise<number>) => () => Promise<void>;

interface LookOptions {
  readonly acceptKey?: string;
  readonly keepAnswer?: boolean;
}
interface AddOptions extends LookOptions {
  readonly name: string;
}
interface DrainOptions {
  readonly deadline?: string;
  readonly wait?: boolean;
}
interface SetOptions {
  readonly attribute?: readonly string[];
  readonly taint?: readonly string[];
  readonly untaint?: readonly string[];
  readonly wakeAddress?: string;
}

const lookAgainMs = 300;
const keepAnswer = [
  '--keep-answer',
  'keep the passphrase or password in memory until the host ends, for when the connection is lost',
] as const;

export function addMachineCommands(parent: Command, context: Context, act: Act): void {
  const machine = parent.command('machine').alias('worker').description('machines of the cluster');
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  machine
    .command('list')
    .alias('ls')
    .description('list machines with what is free on them')
    .action(act(() => listCommand(context)));
  machine
    .command('show [NAME]')
    .description(
      'show a machine with its cards, its disks and what is set of it; without a name, the only one',
    )
    .action((name: string | undefined) => act(() => showCommand(context, name))());
  machine
    .command('check <ADDRESS>')
    .description('look at a machine step by step without adding it; exit code 1 when it is not usable')
    .option('--accept-key <FINGERPRINT>', 'the fingerprint its unknown or changed host key must have')
    .option(...keepAnswer)
    .action((address: string, options: LookOptions) => act(() => checkCommand(context, address, options))());
  machine
    .command('add <ADDRESS>')
    .description('add a machine reached by SSH: ssh://[user@]host[:port], or an alias of ~/.ssh/config')
    .requiredOption('--name <NAME>', 'what it is called here, and by --machine')
    .option('--accept-key <FINGERPRINT>', 'the fingerprint its unknown or changed host key must have')
    .option(...keepAnswer)
    .action((address: string, options: AddOptions) => act(() => addCommand(context, address, options))());
  machine
    .command('connect <NAME>')
    .description('try at once to reach a machine that is not in contact, and answer here what SSH asks')
    .option(...keepAnswer)
    .action((name: string, options: Pick<LookOptions, 'keepAnswer'>) =>
      act(() => connectCommand(context, name, options))(),
    );
  for (const kind of ['cordon', 'uncordon'] as const)
    machine
      .command(`${kind} <NAME>`)
      .description(
        kind === 'cordon' ? 'place nothing new there; what runs goes on' : 'place tasks there again',
      )
      .action((name: string) => act(() => changeCommand(context, name, { kind }))());
  machine
    .command('drain <NAME>')
    .description('place nothing new there, and let what runs end')
    .option('--deadline <TIME>', 'after this what still runs is stopped with notice and runs again elsewhere')
    .option('--wait', 'return once nothing of ours runs there any more')
    .action((name: string, options: DrainOptions) => act(() => drainCommand(context, name, options))());
  machine
    .command('remove <NAME>')
    .alias('rm')
    .description('take a machine out of the cluster on which nothing of ours runs')
    .option(
      '--force',
      'also when something may run there: it is stopped, counts as lost and runs again elsewhere',
    )
    .action((name: string, options: { readonly force?: boolean }) =>
      act(() => removeCommand(context, name, options.force === true))(),
    );
  machine
    .command('set <NAME>')
    .description('set what is named, leave the rest as it is')
    .option('--attribute <KEY=VALUE>', 'for constraints; KEY= takes it away; may be repeated', collect)
    .option('--taint <KEY=VALUE>', 'only jobs that ask for KEY are placed there; may be repeated', collect)
    .option('--untaint <KEY>', 'take a taint away; may be repeated', collect)
    .option('--wake-address <ADDRESS>', 'its hardware address, for wake; none takes it away')
    .action((name: string, options: SetOptions) => act(() => setCommand(context, name, options))());
  machine
    .command('release-gpu <NAME> <UUID>')
    .description('give a card that is kept from jobs to them again')
    .action((name: string, uuid: string) =>
      act(() => changeCommand(context, name, { kind: 'release-gpu', uuid }))(),
    );
  machine
    .command('wake <NAME>')
    .description('send the packet that wakes a machine that is off')
    .action((name: string) => act(() => wakeCommand(context, name))());
}

const machinesOf = async (context: Context): Promise<readonly MachineView[]> =>
  (await context.link.persist((connection) => connection.call('machine.list', {}))).machines;

async function listCommand(context: Context): Promise<number> {
  const machines = await machinesOf(context);
  if (context.output.json) await context.output.value(machines);
  else await context.output.text(machineTable(machines));
  return exitCodes.ok;
}

async function showCommand(context: Context, name: string | undefined): Promise<number> {
  const machines = await machinesOf(context);
  const machine = named(machines, name);
  if (context.output.json) await context.output.value(machine);
  else await context.output.text(machineLines(machine, await jobsOn(context, machine)));
  return exitCodes.ok;
}

/** Of the attempts that have cards of it. */
async function jobsOn(context: Context, machine: MachineView): Promise<JobOfAttempt> {
  if (machine.gpus.every(({ heldBy }) => heldBy === null)) return new Map();
  const { items } = await context.link.persist((connection) => connection.call('queue.get', {}));
  return new Map(items.flatMap(({ uid, jobId }) => (uid === null ? [] : [[uid, jobId] as const])));
}

async function checkCommand(
  context: Context,
  address: string,
  { acceptKey, keepAnswer: keep = false }: LookOptions,
): Promise<number> {
  const params = { address: checked('ADDRESS', 'address', address), acceptKey: acceptKey ?? null };
  const { checks, usable } = await asked(context, params.address, keep, (connection) =>
    connection.call('machine.check', params),
  );
  if (context.output.json) await context.output.value({ checks, usable });
  else await context.output.text(checkTable(checks));
  if (!usable)
    await context.output.note(`${address} cannot be used as it is; the steps that failed say what to do.`);
  return usable ? exitCodes.ok : exitCodes.notRunning;
}

async function addCommand(context: Context, address: string, options: AddOptions): Promise<number> {
  const params = {
    requestId: randomUUID(),
    name: checked('--name', 'name', options.name),
    address: checked('ADDRESS', 'address', address),
    acceptKey: options.acceptKey ?? null,
  };
  const added = await asked(context, params.address, options.keepAnswer === true, (connection) =>
    connection.call('machine.add', params),
  );
  const unanswered = added.checks.find(({ code }) => code !== undefined);
  if (added.machine === null && unanswered?.code !== undefined) {
    const { code, message, advice } = unanswered;
    throw new RefusalError(refusal(code, `${address} was not added. ${message} ${advice ?? ''}`.trim()));
  }
  if (context.output.json) await context.output.value(added);
  else if (added.machine === null) await context.output.text(checkTable(added.checks));
  if (added.machine !== null) {
    for (const { outcome, message, advice } of added.checks)
      if (outcome === 'WARNING')
        await context.output.note(`${message}${advice === null ? '' : ` ${advice}`}`);
    if (!context.output.json) await context.output.text(`${added.machine.id} ${stateWord(added.machine)}\n`);
    return exitCodes.ok;
  }
  await context.output.note(`${address} was not added; the steps that failed say what to do.`);
  return exitCodes.notRunning;
}

async function connectCommand(
  context: Context,
  name: string,
  { keepAnswer: keep = false }: Pick<LookOptions, 'keepAnswer'>,
): Promise<number> {
  const { id, address } = named(await machinesOf(context), name);
  await asked(context, address, keep, (connection) => connection.call('machine.connect', { machineId: id }));
  return await told(context, named(await machinesOf(context), id));
}

/** Does something that may make an SSH client ask; what it asks is asked here. */
function asked<T>(
  context: Context,
  address: string | null,
  keep: boolean,
  act: (connection: Connection) => Promise<T>,
): Promise<T> {
  return context.link.persist(async (connection) => {
    const stop = address === null ? () => undefined : answerQuestions(context, connection, address, keep);
    try {
      return await act(connection);
    } finally {
      stop();
    }
  });
}

async function changeCommand(context: Context, machineId: string, change: MachineChange): Promise<number> {
  const params = { requestId: randomUUID(), machineId, change };
  return await told(
    context,
    await context.link.persist((connection) => connection.call('machine.change', params)),
  );
}

async function told(context: Context, machine: MachineView): Promise<number> {
  if (context.output.json) await context.output.value(machine);
  else await context.output.text(`${machine.id} ${stateWord(machine)}\n`);
  return exitCodes.ok;
}

async function drainCommand(context: Context, machineId: string, options: DrainOptions): Promise<number> {
  const { deadline } = options;
  const deadlineMs = deadline === undefined ? null : parseDuration(deadline);
  if (deadlineMs === undefined) throw wrong('--deadline', deadline ?? '', durationExpected);
  const change: MachineChange = { kind: 'drain', deadlineMs };
  const params = { requestId: randomUUID(), machineId, change };
  let machine = await context.link.persist((connection) => connection.call('machine.change', params));
  const { id } = machine;
  while (options.wait === true && machine.scheduling === 'DRAINING') {
    await pause(lookAgainMs);
    machine = named(await machinesOf(context), id);
  }
  if (options.wait === true && machine.scheduling !== 'DRAINED') {
    const now = machine.scheduling.toLowerCase();
    throw new RefusalError(
      refusal('FAILED_PRECONDITION', `The drain of ${id} was called off meanwhile: it is ${now}.`),
    );
  }
  return await told(context, machine);
}

async function removeCommand(context: Context, machineId: string, force: boolean): Promise<number> {
  const params = { requestId: randomUUID(), machineId, force };
  const { notStopped } = await context.link.persist((connection) =>
    connection.call('machine.remove', params),
  );
  if (context.output.json) await context.output.value({ removed: machineId, notStopped });
  else await context.output.text(`${machineId} REMOVED\n${notStopped === null ? '' : `${notStopped}\n`}`);
  return exitCodes.ok;
}

async function wakeCommand(context: Context, machineId: string): Promise<number> {
  await context.link.persist((connection) => connection.call('machine.wake', { machineId }));
  if (context.output.json) await context.output.value({ woken: machineId });
  else
    await context.output.text(`The packet for ${machineId} was sent; machine list shows when it is there.\n`);
  return exitCodes.ok;
}

/** Nothing is changed unless all words are right; taints are set as a whole, so those there are are read first. */
async function setCommand(context: Context, name: string, options: SetOptions): Promise<number> {
  const changes: MachineChange[] = [];
  if (options.attribute !== undefined) {
    const pairs = options.attribute.map((text) => pair('--attribute', text));
    const attributes = Object.fromEntries(pairs.map(({ key, value }) => [key, attributeValue(value)]));
    changes.push({ kind: 'attributes', attributes });
  }
  const taints = (options.taint ?? []).map((text) => pair('--taint', text));
  const machine = named(await machinesOf(context), name);
  if (options.taint !== undefined || options.untaint !== undefined) {
    const gone = new Set([...(options.untaint ?? []), ...taints.map(({ key }) => key)]);
    const missing = (options.untaint ?? []).find((key) => machine.taints.every((taint) => taint.key !== key));
    if (missing !== undefined) {
      const there = machine.taints.map(({ key }) => key).join(', ');
      throw wrong('--untaint', missing, there === '' ? 'a taint; it has none' : `one of ${there}`);
    }
    const kept = machine.taints.filter(({ key }) => !gone.has(key));
    changes.push({ kind: 'taints', taints: [...kept, ...taints] });
  }
  if (options.wakeAddress !== undefined) {
    const text = options.wakeAddress.trim();
    changes.push({ kind: 'wake-address', wakeAddress: text === 'none' || text === '' ? null : text });
  }
  if (changes.length === 0)
    throw new RefusalError(
      refusal(
        'INVALID_ARGUMENT',
        `Nothing to set of ${name}: name --attribute, --taint, --untaint or --wake-address.`,
      ),
    );
  let last = machine;
  // What only the host can say of a change, it can say of attributes alone, which come first.
  for (const params of changes.map((change) => checkedChange(machine.id, change)))
    last = await context.link.persist((connection) => connection.call('machine.change', params));
  if (context.output.json) await context.output.value(last);
  else await context.output.text(machineLines(last));
  return exitCodes.ok;
}

function checkedChange(machineId: string, change: MachineChange): Params<'machine.change'> {
  const possible = checkMachineChange(machineId, change);
  if (!possible.ok) throw new RefusalError(possible.refusal);
  const params = { requestId: randomUUID(), machineId, change };
  const parsed = methods['machine.change'].params.safeParse(params, { error: expectedWords });
  if (parsed.success) return parsed.data;
  const [field] = fieldErrors(parsed.error, params);
  const name = field?.field.replace(/^change\./, '') ?? change.kind;
  throw wrong(name, field?.value ?? '', field?.expected ?? 'something shorter');
}

function named(machines: readonly MachineView[], name: string | undefined): MachineView {
  const [only] = machines;
  if (name === undefined && only !== undefined && machines.length === 1) return only;
  const found = machines.find(({ id }) => id.toLowerCase() === name?.toLowerCase());
  if (found !== undefined) return found;
  const there = machines.map(({ id }) => id).join(', ');
  const message =
    name === undefined
      ? `Name the machine to show; there are ${there}.`
      : `There is no machine ${name}; there ${machines.length === 1 ? 'is' : 'are'} ${there}.`;
  throw new RefusalError(
    refusal('NOT_FOUND', message, [{ field: 'machine', value: name ?? '', expected: `one of ${there}` }]),
  );
}

function pair(flag: string, text: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf('=');
  if (at <= 0) throw wrong(flag, text, 'KEY=VALUE');
  return { key: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}

/** Numbers can be compared by constraints. */
function attributeValue(text: string): string | number | null {
  if (text === '') return null;
  return /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text ? Number(text) : text;
}

function checked(flag: string, field: 'name' | 'address', text: string): string {
  const parsed = methods['machine.add'].params.shape[field].safeParse(text, { error: expectedWords });
  if (parsed.success) return parsed.data;
  throw wrong(flag, text, parsed.error.issues[0]?.message ?? `a ${field}`);
}

function wrong(field: string, value: string, expected: string): RefusalError {
  return new RefusalError(
    refusal('INVALID_ARGUMENT', `${field}: ${value} is not valid; expected ${expected}.`, [
      { field, value, expected },
    ]),
  );
}

function checkTable(checks: readonly MachineCheck[]): string {
  return table(
    [{ title: 'STEP' }, { title: 'OUTCOME' }, { title: 'FOUND' }],
    checks.map(({ step, outcome, message, advice, fingerprint }) => [
      step,
      outcome,
      [message, advice, fingerprint === null || message.includes(fingerprint) ? null : fingerprint]
        .filter((part) => part !== null)
        .join(' '),
    ]),
  );
}
