/** What can be asked of machines: looking at one, adding, changing, waking and removing it. */
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { MethodResult, ParsedParams } from '../../core/contract/api.js';
import type { MachineCheck, MachineView } from '../../core/contract/machines.js';
import { checkAddition, type KnownMachine } from '../../core/model/machine-change.js';
import type { ChangeSet } from '../../core/model/entities.js';
import type { Backend } from '../backends/backend.js';
import type { Controller } from './controller.js';
import { describeError, type Logger } from './logger.js';
import type { Command } from './round.js';
import type { Identity } from './session.js';
import { sendWakePacket, type WakeTarget } from './wake.js';

export interface MachineLook {
  readonly checks: readonly MachineCheck[];
  readonly usable: boolean;
  /** Names the machine whatever address leads to it; null: it could not be told. */
  readonly identity: string | null;
}

export interface FleetMember {
  readonly id: string;
  readonly address: string;
  readonly identity: string | null;
}

/** The machines beside the one a controller runs on, behind one backend. */
export interface MachineFleet {
  /** Looks at an address step by step; rejects only with a refusal. */
  check(address: string, acceptKey: string | null, willConnect?: boolean): Promise<MachineLook>;
  /** From now on it is connected to; of one that is there already, nothing happens. */
  add(machine: FleetMember): void;
  /** Its removal is about to be committed; what is returned takes that back. */
  removing?(id: string): () => void;
  /** Has what runs there stopped where it is in contact, and lets go of it. */
  remove(id: string): unknown;
  /** How the last removal went. Null, or one sentence that names what could not be stopped. */
  removal?(id: string): Promise<string | null>;
  /** Tries at once. Null: it is in contact; or why not, and whether somebody would have had to answer. */
  connect?(id: string): Promise<{ readonly message: string; readonly isUnanswered: boolean } | null>;
}

export interface MachineServiceParts {
  readonly controller: Controller;
  readonly backend: Backend;
  readonly fleet: MachineFleet | null;
  readonly machines: () => readonly MachineView[];
  /** Of the machine the controller runs on; null: it has none. */
  readonly identity: string | null;
  readonly wakeTargets?: readonly WakeTarget[] | undefined;
}

export class MachineService {
  constructor(private readonly parts: MachineServiceParts) {}

  async check(
    params: ParsedParams<'machine.check'>,
    identity: Identity,
  ): Promise<MethodResult<'machine.check'>> {
    const { checks, usable } = await this.fleet(identity).check(params.address, params.acceptKey);
    return { checks: [...checks], usable };
  }

  /** Names are looked at before the machine is, so that a name that is taken costs no wait. */
  async add(params: ParsedParams<'machine.add'>, identity: Identity): Promise<MethodResult<'machine.add'>> {
    const { name, acceptKey, requestId } = params;
    const fleet = this.fleet(identity);
    const { memory } = this.parts.controller;
    const others = this.withoutRow();
    if (memory.receipt(requestId) !== undefined) return { machine: this.machine(name), checks: [] };
    const free = checkAddition(memory, { id: name, address: params.address, identity: null, others });
    if (!free.ok) throw new RefusalError(free.refusal);
    const address = params.address.startsWith('ssh://') ? params.address : `ssh://${params.address}`;
    const look = await fleet.check(params.address, acceptKey, true);
    const checks = [...look.checks];
    if (!look.usable) return { machine: null, checks };
    const machine = { id: name, address, identity: look.identity };
    await this.parts.controller.enqueue({ kind: 'machine-add', requestId, identity, machine, others });
    return { machine: this.machine(name), checks };
  }

  async remove(
    params: ParsedParams<'machine.remove'>,
    identity: Identity,
  ): Promise<MethodResult<'machine.remove'>> {
    const { requestId, machineId, force } = params;
    if (this.parts.controller.memory.receipt(requestId) !== undefined) return await this.removal(machineId);
    const { id } = this.machine(machineId);
    const stays = this.parts.fleet?.removing?.(id);
    try {
      const command = { kind: 'machine-remove', requestId, identity, machineId: id, force } as const;
      await this.parts.controller.enqueue(command);
    } catch (error) {
      stays?.();
      throw error;
    }
    return await this.removal(id);
  }

  async change(params: ParsedParams<'machine.change'>, identity: Identity): Promise<MachineView> {
    const { requestId, change } = params;
    const { controller, backend } = this.parts;
    const { id: machineId, gpus } = this.machine(params.machineId);
    const card = change.kind === 'release-gpu' ? gpus.find(({ uuid }) => uuid === change.uuid) : undefined;
    // Asked again, after its answer was lost: the card is not kept from jobs any more, unless the host ended before it was given back.
    if (controller.memory.receipt(requestId) !== undefined) {
      if (change.kind === 'release-gpu' && card?.state === 'SICK')
        backend.releaseGpu?.(machineId, change.uuid);
      return this.machine(machineId);
    }
    if (change.kind === 'release-gpu') {
      if (card === undefined) {
        const there = gpus.map(({ uuid }) => uuid);
        const expected = there.length === 0 ? 'a card; it has none' : `one of ${there.join(', ')}`;
        throw new RefusalError(
          refusal('NOT_FOUND', `${machineId} has no card ${change.uuid}.`, [
            { field: 'uuid', value: change.uuid, expected },
          ]),
        );
      }
      if (card.state !== 'SICK') {
        const message = `${change.uuid} of ${machineId} is not kept from jobs: there is nothing to release.`;
        throw new RefusalError(refusal('FAILED_PRECONDITION', message));
      }
    }
    await controller.enqueue({ kind: 'machine-change', requestId, identity, machineId, change });
    if (change.kind === 'release-gpu') backend.releaseGpu?.(machineId, change.uuid);
    return this.machine(machineId);
  }

  async connect(machineId: string, identity: Identity): Promise<Record<string, never>> {
    const fleet = this.fleet(identity);
    const { id, address } = this.machine(machineId);
    const failure = address === null ? null : ((await fleet.connect?.(id)) ?? null);
    if (failure === null) return {};
    const code = failure.isUnanswered ? 'ANSWER_NEEDED' : 'UNREACHABLE';
    throw new RefusalError(refusal(code, `${id} is not in contact. ${failure.message}`));
  }

  async wake(machineId: string, identity: Identity): Promise<Record<string, never>> {
    mayManage(identity, 'wake machines');
    const { id, wakeAddress, contact } = this.machine(machineId);
    if (contact.state === 'CONNECTED')
      throw new RefusalError(refusal('FAILED_PRECONDITION', `${id} is on: it is connected.`));
    if (wakeAddress === null) {
      const message =
        `Nobody has said by which address ${id} is woken: irisctl machine set ${id} --wake-address aa:bb:cc:dd:ee:ff, ` +
        'the one `ip link` shows there.';
      throw new RefusalError(refusal('FAILED_PRECONDITION', message));
    }
    await sendWakePacket(wakeAddress, this.parts.wakeTargets);
    return {};
  }

  /** Under that id it was done before, whatever became of the answer. */
  isDone(requestId: string): boolean {
    return this.parts.controller.memory.receipt(requestId) !== undefined;
  }

  async recordEmptied(emptied: Omit<Extract<Command, { kind: 'caches-emptied' }>, 'kind'>): Promise<void> {
    await this.parts.controller.enqueue({ kind: 'caches-emptied', ...emptied });
  }

  /** By its name, whatever its case. */
  machine(machineId: string): MachineView {
    const all = this.parts.machines();
    const found =
      all.find(({ id }) => id === machineId) ??
      all.find(({ id }) => id.toLowerCase() === machineId.toLowerCase());
    if (found !== undefined) return found;
    const expected = `one of ${all.map(({ id }) => id).join(', ')}`;
    throw new RefusalError(
      refusal(
        'NOT_FOUND',
        `There is no machine ${machineId}; there ${all.length === 1 ? 'is' : 'are'} ${all.map(({ id }) => id).join(', ')}.`,
        [{ field: 'machineId', value: machineId, expected }],
      ),
    );
  }

  /** The machine the controller runs on. */
  private withoutRow(): readonly KnownMachine[] {
    const own = this.parts.machines().filter(({ address }) => address === null);
    return own.map(({ id }) => ({ id, identity: this.parts.identity }));
  }

  /** A failure is in the log; the machine is removed all the same. */
  private async removal(id: string): Promise<MethodResult<'machine.remove'>> {
    const notStopped = await this.parts.fleet?.removal?.(id).catch(String);
    return { notStopped: notStopped ?? null };
  }

  private fleet(identity: Identity): MachineFleet {
    mayManage(identity, 'add machines');
    if (this.parts.fleet !== null) return this.parts.fleet;
    throw new RefusalError(
      refusal('FAILED_PRECONDITION', 'This controller runs jobs on its own machine only.'),
    );
  }
}

/** Or a refusal that says what the user may not. */
export function mayManage(identity: Identity, what: string): void {
  if (identity.mayManage === true) return;
  throw new RefusalError(
    refusal(
      'PERMISSION_DENIED',
      `${identity.user} may not ${what}: only who administers this cluster, the owner of its data folder, may.`,
    ),
  );
}

/** Brings the fleet in step with what a commit says of machines. */
export function followMachines(fleet: MachineFleet, machines: ChangeSet['machines'], logger: Logger): void {
  for (const { id, machine } of machines) {
    try {
      if (machine === null) void Promise.resolve(fleet.remove(id)).catch(failed('let go of', id, logger));
      else if (machine.address !== null)
        fleet.add({ id, address: machine.address, identity: machine.identity });
    } catch (error) {
      failed('taken up', id, logger)(error);
    }
  }
}

function failed(what: string, id: string, logger: Logger): (error: unknown) => void {
  return (error) => logger.error(`A machine could not be ${what}`, { machine: id, ...describeError(error) });
}
