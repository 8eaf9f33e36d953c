/** `docker ...` and `image ...`: whether containers can be run, and what they start from and share on each machine. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { RefusalError, refusal, type Refusal } from '../../../core/contract/errors.js';
import type { ImageNews, ImagePull, ImageView, MachineView } from '../../../core/contract/machines.js';
import { roomSentence } from '../../../core/formats/docker/data-room.js';
import { formatSize } from '../../../core/formats/sizes.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { isoTime, table } from '../format.js';
import { addCachesCommand } from './caches.js';

type Act = (work: () => Promise<number>) => () => Promise<void>;

interface MachineOption {
  readonly machine?: string;
}

const lookAgainMs = 300;
/** A host that began a moment ago has not looked at its Engine yet. */
const mostLooks = 40;

export function addDockerCommands(parent: Command, context: Context, act: Act): void {
  const docker = parent
    .command('docker')
    .description('whether containers can run, and what they share, machine by machine');
  docker
    .command('check')
    .description('tell whether each machine can run containers, and what to do where not')
    .action(act(() => checkCommand(context)));
  addCachesCommand(docker, context, act, machineOf);
  const image = parent.command('image').description('container images of the machines');
  image
    .command('list')
    .alias('ls')
    .description('list images with their size and use, and what is being pulled')
    .action(act(() => listCommand(context)));
  image
    .command('pull <IMAGE>')
    .description('pull an image and show how far it is; Ctrl-C leaves it to go on')
    .option('--machine <NAME>', 'where to; the only machine unless given')
    .option('--cancel', 'end the pull that runs')
    .action((name: string, options: MachineOption & { readonly cancel?: boolean }) =>
      act(() => (options.cancel === true ? cancelCommand : pullCommand)(context, name, options))(),
    );
  image
    .command('remove <IMAGE>')
    .alias('rm')
    .description('remove an image by its id or its name')
    .option('--machine <NAME>', 'where from; the only machine unless given')
    .action((name: string, options: MachineOption) => act(() => removeCommand(context, name, options))());
}

async function machinesOf(context: Context): Promise<readonly MachineView[]> {
  const answer = await context.link.persist((connection) => connection.call('machine.list', {}));
  return answer.machines;
}

async function checkCommand(context: Context): Promise<number> {
  let machines = await machinesOf(context);
  // Of one that is off nothing will be known by waiting for it.
  const unknown = () =>
    machines.length === 0 ||
    machines.some(
      ({ docker, contact }) =>
        contact.state === 'CONNECTING' || (docker.state === 'UNKNOWN' && contact.state === 'CONNECTED'),
    );
  for (let looks = 0; looks < mostLooks && unknown(); looks += 1) {
    await pause(lookAgainMs);
    machines = await machinesOf(context);
  }
  const found = machines.map(({ id, docker, contact }) => ({ machine: id, ...docker, contact }));
  if (context.output.json) await context.output.value({ machines: found });
  else await context.output.text(found.map(checkText).join(''));
  const usable = found.some(({ state, contact }) => state === 'READY' && contact.state === 'CONNECTED');
  return usable ? exitCodes.ok : exitCodes.refused;
}

function checkText({
  machine,
  state,
  version,
  gpus,
  message,
  storage,
  found,
  contact,
}: { machine: string; contact: MachineView['contact'] } & MachineView['docker']): string {
  const seen = { contact, docker: { state, message } };
  if (!canTell(seen)) return obstacleText(machine, seen);
  const cards = gpus
    ? 'containers can be given GPUs'
    : 'no NVIDIA runtime and no CDI device of a card, so containers can be given no GPUs';
  const room = storage === null || storage === undefined ? '' : ` ${roomSentence(storage)}`;
  // What stands against it names the room itself.
  const where = found === null || found === undefined ? '' : ` at ${found.at} (${found.from})`;
  const what = `${found?.rootless === true ? 'rootless ' : ''}${found?.engine ?? 'Docker'} ${version ?? ''}`;
  return `${machine}: ${what} is ready${where}; ${cards}.${message === null ? room : ` ${message}`}\n`;
}

interface Seen {
  readonly contact: Pick<MachineView['contact'], 'state' | 'message'>;
  readonly docker: Pick<MachineView['docker'], 'state' | 'message'>;
}

function canTell({ contact, docker }: Seen): boolean {
  return contact.state === 'CONNECTED' && docker.state === 'READY';
}

/** Why containers cannot be run there, nor be told of. */
function obstacleText(machine: string, { contact, docker }: Seen): string {
  // What was seen of it before says nothing of now.
  if (contact.state !== 'CONNECTED') return `${machine}: ${contact.message ?? 'It is not in contact.'}\n`;
  return `${machine}: ${docker.message ?? 'Docker was not looked at yet.'}\n`;
}

async function listCommand(context: Context): Promise<number> {
  const found = await context.link.persist((connection) => connection.call('image.list', {}));
  if (context.output.json) {
    await context.output.value(found);
    return exitCodes.ok;
  }
  const machines = await machinesOf(context);
  const rows = found.images.map((image) => [
    image.machineId,
    image.names[0] ?? '-',
    image.id.replace('sha256:', '').slice(0, 12),
    formatSize(image.sizeBytes),
    isoTime(image.createdAtMs),
    image.inUse === 0 ? '-' : String(image.inUse),
  ]);
  const columns = [
    { title: 'MACHINE' },
    { title: 'IMAGE' },
    { title: 'ID' },
    { title: 'SIZE', align: 'right' },
    { title: 'CREATED' },
    { title: 'IN USE', align: 'right' },
  ] as const;
  const running = found.pulls.filter(({ state }) => state === 'PULLING').map((pull) => `${pullText(pull)}\n`);
  // What is on the others cannot be known.
  const silent = machines.filter((machine) => !canTell(machine));
  const none = silent.length < machines.length ? 'No images.\n' : '';
  const list = rows.length === 0 ? none : table(columns, rows);
  await context.output.text(
    [list, ...running, ...silent.map(({ id, ...machine }) => obstacleText(id, machine))].join(''),
  );
  return exitCodes.ok;
}

function pullText(pull: ImagePull): string {
  const of = pull.totalBytes === null ? '' : ` of ${formatSize(pull.totalBytes)}`;
  const layers = pull.layers === 0 ? '' : `, ${pull.layersDone} of ${pull.layers} layers`;
  return `Pulling ${pull.image} to ${pull.machineId}: ${formatSize(pull.doneBytes)}${of}${layers}`;
}

/** Named, or the only one there is. */
async function machineOf(context: Context, { machine }: MachineOption): Promise<string> {
  if (machine !== undefined) return machine;
  const machines = await machinesOf(context);
  const [only] = machines;
  if (only !== undefined && machines.length === 1) return only.id;
  const names = machines.map(({ id }) => id).join(', ');
  throw new RefusalError(
    refusal('INVALID_ARGUMENT', `There are several machines (${names}); name one with --machine.`),
  );
}

async function pullCommand(context: Context, image: string, options: MachineOption): Promise<number> {
  const machineId = await machineOf(context, options);
  await context.link.persist((connection) => connection.call('image.pull', { machineId, image }));
  let said = '';
  const pull = await pullEnd(context, machineId, image, (text) => {
    if (context.output.json || text === said) return;
    said = text;
    void context.output.text(`${text}\n`);
  });
  if (pull.state !== 'DONE')
    throw new RefusalError(refusal('FAILED_PRECONDITION', pull.message ?? `${image} was not pulled.`));
  if (context.output.json) await context.output.value(pull);
  else await context.output.text(`${image} is on ${machineId}.\n`);
  return exitCodes.ok;
}

/** `step`: how far it is, each time that changes. */
function pullEnd(
  { link }: Context,
  machineId: string,
  image: string,
  step: (text: string) => void,
): Promise<ImagePull> {
  return link.persist(
    (connection) =>
      new Promise<ImagePull>((resolve, reject) => {
        let over = false;
        let unsubscribe: () => void = () => undefined;
        const finish = (end: () => void): void => {
          over = true;
          unsubscribe();
          end();
        };
        const seen = ({ pulls }: ImageNews): void => {
          if (over) return;
          const pull = pulls.find((one) => one.image === image && one.machineId === machineId);
          if (pull === undefined) {
            const gone = refusal('NOT_FOUND', `${image} is not pulled any more.`);
            finish(() => reject(new RefusalError(gone)));
          } else if (pull.state === 'PULLING') step(pullText(pull));
          else finish(() => resolve(pull));
        };
        const ended = (reason: Refusal): void => {
          if (!over) finish(() => reject(new RefusalError(reason)));
        };
        unsubscribe = connection.subscribe('images', {}, { snapshot: seen, delta: seen, ended });
      }),
  );
}

async function cancelCommand(context: Context, image: string, options: MachineOption): Promise<number> {
  const machineId = await machineOf(context, options);
  await context.link.persist((connection) => connection.call('image.cancel', { machineId, image }));
  if (context.output.json) await context.output.value({ machineId, image });
  else await context.output.text(`The pull of ${image} to ${machineId} was ended.\n`);
  return exitCodes.ok;
}

async function removeCommand(context: Context, name: string, options: MachineOption): Promise<number> {
  const machineId = await machineOf(context, options);
  const { images } = await context.link.persist((connection) => connection.call('image.list', {}));
  const fits = (image: ImageView): boolean =>
    image.machineId === machineId &&
    (image.names.includes(name) || image.names.includes(`${name}:latest`) || isIdOf(name, image.id));
  const [found, another] = images.filter(fits);
  if (found === undefined) throw new RefusalError(await notThere(context, name, machineId));
  if (another !== undefined)
    throw new RefusalError(refusal('INVALID_ARGUMENT', `${name} fits several images; give more of the id.`));
  await context.link.persist((connection) =>
    connection.call('image.remove', { machineId, imageId: found.id }),
  );
  if (context.output.json) await context.output.value({ machineId, imageId: found.id });
  else await context.output.text(`${name} was removed from ${machineId}.\n`);
  return exitCodes.ok;
}

async function notThere(context: Context, image: string, machineId: string): Promise<Refusal> {
  const machine = (await machinesOf(context)).find(({ id }) => id === machineId);
  return machine === undefined || canTell(machine)
    ? refusal('NOT_FOUND', `There is no image ${image} on ${machineId}.`)
    : refusal('FAILED_PRECONDITION', obstacleText(machineId, machine).trim());
}

function isIdOf(text: string, id: string): boolean {
  const hex = text.replace('sha256:', '');
  return hex.length >= 4 && id.replace('sha256:', '').startsWith(hex);
}
