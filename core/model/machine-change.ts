/** Machines: adding and removing them, whether they take new tasks, and what is set of them by hand. */
import type { CacheName } from '../contract/caches.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import type { MachineChange } from '../contract/machines.js';
import type { Draft } from './draft.js';
import { controllerActor, type AuditAction, type Machine } from './entities.js';
import { preempt, workerLost, type Elapsed } from './timeouts.js';
import type { ModelView } from './view.js';

/** Every machine has it, with its own name. */
export const machineAttribute = 'machine';

const maxAttributes = 100;

export interface Administrator {
  readonly actor: string;
  /** The actor administers the cluster: of a local one, the owner of the data folder. */
  readonly mayManage: boolean;
  readonly nowMs: number;
}

/** A machine there is, with or without a row. */
export interface KnownMachine {
  readonly id: string;
  /** Null: not known. */
  readonly identity: string | null;
}

export interface MachineAddition extends Administrator {
  readonly id: string;
  readonly address: string;
  readonly identity: string | null;
  /** Those without a row: the one the controller runs on. */
  readonly others: readonly KnownMachine[];
}

export function addMachine(draft: Draft, addition: MachineAddition): Result<{ readonly machineId: string }> {
  const { id, address, identity, actor, nowMs } = addition;
  const may = mayManage(addition, 'add machines');
  if (!may.ok) return may;
  const free = checkAddition(draft, addition);
  if (!free.ok) return free;
  draft.putMachine({ ...newRow(id, actor, nowMs), address, identity });
  auditMachine(draft, addition, 'worker_registered', id, { address });
  return ok({ machineId: id });
}

/** Names differ by more than case, and one machine has one name: its load would be counted twice. */
export function checkAddition(
  view: Pick<ModelView, 'machines'>,
  { id, address, identity, others }: Pick<MachineAddition, 'id' | 'address' | 'identity' | 'others'>,
): Result<null> {
  const added = [...view.machines()].filter((row) => row.address !== null);
  const known: readonly KnownMachine[] = [...added, ...others];
  const sameName = known.find(named(id));
  if (sameName !== undefined) {
    const message = `There is a machine ${sameName.id} already; give this one another name.`;
    return refuse('ALREADY_EXISTS', message, [
      { field: 'name', value: id, expected: `none of ${known.map((machine) => machine.id).join(', ')}` },
    ]);
  }
  const same = identity === null ? undefined : known.find((machine) => machine.identity === identity);
  if (same === undefined) return ok(null);
  const message = others.includes(same)
    ? `${address} is ${same.id}, the machine this controller runs on: it is a machine of this cluster already.`
    : `${address} is the machine ${same.id}, which is a machine of this cluster already. ${cloned}`;
  return refuse('ALREADY_EXISTS', message, [
    { field: 'address', value: address, expected: 'a machine that is none of this cluster yet' },
  ]);
}

const cloned =
  'If it is another, both were set up from one image and share one id: give this one its own (there: sudo rm /etc/machine-id; ' +
  'sudo systemd-machine-id-setup) and start it anew.';

export interface MachineRemoval extends Administrator {
  readonly machineId: string;
  readonly force: boolean;
}

/** With `force` what runs there counts as lost at once, whatever becomes of its processes, which are told to stop afterwards. */
export function removeMachine(draft: Draft, removal: MachineRemoval): Result<Record<string, never>> {
  const { machineId, force, nowMs } = removal;
  const may = mayManage(removal, 'remove machines');
  if (!may.ok) return may;
  const row = draft.machine(machineId);
  if (row === undefined || row.address === null) {
    const message =
      `${machineId} was not added by an address, so it cannot be removed: ` +
      `only the machine a controller runs on is like that. irisctl machine cordon ${machineId} keeps new tasks from it.`;
    return refuse('FAILED_PRECONDITION', message);
  }
  const tasks = [...draft.unfinishedAttempts()]
    .filter(({ workerId }) => workerId === machineId)
    .map(({ taskId }) => taskId);
  if (tasks.length > 0 && !force) {
    const [first = ''] = tasks;
    const what = tasks.length === 1 ? `${first} runs` : `${first} and ${tasks.length - 1} more run`;
    return refuse(
      'FAILED_PRECONDITION',
      `${what} on ${machineId}, or may still. Drain it first (irisctl machine drain ${machineId} --wait), ` +
        'or remove it with --force: its tasks then count as lost and run again elsewhere.',
    );
  }
  const message = `The machine ${machineId} was removed by ${removal.actor} while it ran there.`;
  workerLost(draft, machineId, { code: 'WORKER_LOST', message }, nowMs);
  draft.removeMachine(machineId);
  auditMachine(draft, removal, 'worker_removed', machineId, { address: row.address, lost: tasks.length });
  return ok({});
}

/** A change that leaves all as it was leaves no trace. */
export function changeMachine(
  draft: Draft,
  asked: Administrator & { readonly machineId: string; readonly change: MachineChange },
): Result<{ readonly machineId: string }> {
  const { machineId, change, actor, nowMs } = asked;
  const may = mayManage(asked, 'change machines');
  if (!may.ok) return may;
  if (change.kind === 'release-gpu') {
    auditMachine(draft, asked, 'worker_changed', machineId, { releasedGpu: change.uuid });
    return ok({ machineId });
  }
  const before = draft.machine(machineId) ?? newRow(machineId, actor, nowMs);
  const changed = changedRow(before, change, nowMs);
  if (!changed.ok) return changed;
  if (JSON.stringify(changed.value) === JSON.stringify(before)) return ok({ machineId });
  draft.putMachine(changed.value);
  auditMachine(draft, asked, 'worker_changed', machineId, differences(before, changed.value));
  return ok({ machineId });
}

/** Told once it is done: what was in them when they were measured last, if they were. */
export function emptiedCaches(
  draft: Draft,
  asked: Administrator & {
    readonly machineId: string;
    readonly names: readonly CacheName[];
    readonly bytes: number | null;
  },
): Result<Record<string, never>> {
  const may = mayManage(asked, 'empty caches');
  if (!may.ok) return may;
  const { machineId, names, bytes } = asked;
  auditMachine(draft, asked, 'caches_emptied', machineId, { emptied: names, bytes });
  return ok({});
}

/** What speaks against a change whatever the machine is like, so that none of several is made when one is wrong. */
export function checkMachineChange(machineId: string, change: MachineChange): Result<unknown> {
  return change.kind === 'release-gpu' ? ok(null) : changedRow(newRow(machineId, '', 0), change, 0);
}

function changedRow(
  row: Machine,
  change: Exclude<MachineChange, { kind: 'release-gpu' }>,
  nowMs: number,
): Result<Machine> {
  switch (change.kind) {
    case 'cordon':
      // What is empty and takes nothing stays DRAINED: that says more.
      if (row.scheduling === 'DRAINED') return ok(row);
      return ok({ ...row, scheduling: 'CORDONED', drainDeadlineMs: null });
    case 'uncordon':
      return ok({ ...row, scheduling: 'OPEN', drainDeadlineMs: null });
    case 'drain': {
      if (row.scheduling === 'DRAINED') return ok(row);
      const drainDeadlineMs = change.deadlineMs === null ? null : nowMs + change.deadlineMs;
      return ok({ ...row, scheduling: 'DRAINING', drainDeadlineMs });
    }
    case 'attributes':
      return withAttributes(row, change.attributes);
    case 'taints':
      return withTaints(row, change.taints);
    case 'wake-address':
      return withWakeAddress(row, change.wakeAddress);
  }
}

function withAttributes(
  row: Machine,
  changes: Readonly<Record<string, string | number | null>>,
): Result<Machine> {
  const attributes = new Map(Object.entries(row.attributes));
  for (const [key, value] of Object.entries(changes)) {
    if (key === machineAttribute) return reserved('attributes', value === null ? key : `${key}=${value}`);
    if (value === null) attributes.delete(key);
    else attributes.set(key, value);
  }
  if (attributes.size > maxAttributes) {
    const message = `${row.id} would have ${attributes.size} attributes set by hand; at most ${maxAttributes} are kept.`;
    const expected = `at most ${maxAttributes} attributes`;
    return refuse('INVALID_ARGUMENT', message, [
      { field: 'attributes', value: String(attributes.size), expected },
    ]);
  }
  const sorted = [...attributes].sort(([left], [right]) => (left < right ? -1 : 1));
  return ok({ ...row, attributes: Object.fromEntries(sorted) });
}

function withTaints(row: Machine, taints: Machine['taints']): Result<Machine> {
  const keys = new Set<string>();
  for (const { key, value } of taints) {
    if (key === machineAttribute) return reserved('taints', `${key}=${value}`);
    if (keys.has(key)) {
      const message = `The taint ${key} is named twice; a machine has one value of each.`;
      return refuse('INVALID_ARGUMENT', message, [
        { field: 'taints', value: `${key}=${value}`, expected: `${key} once` },
      ]);
    }
    keys.add(key);
  }
  return ok({ ...row, taints: taints.toSorted((left, right) => (left.key < right.key ? -1 : 1)) });
}

function withWakeAddress(row: Machine, text: string | null): Result<Machine> {
  if (text === null) return ok({ ...row, wakeAddress: null });
  const wakeAddress = text.trim().toLowerCase().replaceAll('-', ':');
  if (/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(wakeAddress)) return ok({ ...row, wakeAddress });
  const expected = 'a hardware address such as aa:bb:cc:dd:ee:ff, as `ip link` shows it on that machine';
  return refuse('INVALID_ARGUMENT', `wakeAddress: ${text} is not valid; expected ${expected}.`, [
    { field: 'wakeAddress', value: text, expected },
  ]);
}

function reserved(field: string, value: string): Result<never> {
  const message = `${machineAttribute} is the name of the machine itself and cannot be set.`;
  return refuse('INVALID_ARGUMENT', message, [
    { field, value, expected: `another key than ${machineAttribute}` },
  ]);
}

/** Under which the time up to a machine's deadline is kept. */
export function drainKey(machineId: string, deadlineMs: number): string {
  return `machine/${machineId} ${deadlineMs}`;
}

/** In every round: what runs past its machine's deadline is told to leave, and a machine on which nothing is left is drained. */
export function settleDrains(
  draft: Draft,
  nowMs: number,
  elapsed: Elapsed = (_, sinceMs) => nowMs - sinceMs,
): void {
  const draining = [...draft.machines()].filter(({ scheduling }) => scheduling === 'DRAINING');
  for (const row of draining) {
    const { drainDeadlineMs: at } = row;
    const due = at !== null && at <= nowMs && elapsed(drainKey(row.id, at), at) >= 0;
    if (due) {
      draft.putMachine({ ...row, drainDeadlineMs: null });
      const requeued = requeueAll(draft, row.id, nowMs);
      const by = { actor: controllerActor, nowMs };
      auditMachine(draft, by, 'worker_changed', row.id, { drainDeadline: 'passed', requeued });
    }
    if (draft.used(row.id).attempts > 0) continue;
    draft.putMachine({ ...row, scheduling: 'DRAINED', drainDeadlineMs: null });
    auditMachine(draft, { actor: controllerActor, nowMs }, 'worker_drained', row.id, {});
  }
}

function requeueAll(draft: Draft, workerId: string, nowMs: number): number {
  const there = [...draft.unfinishedAttempts()].filter((attempt) => attempt.workerId === workerId);
  const reason = `${workerId} is being drained, and its deadline has passed.`;
  // One that is over already, also as a member of a gang that fell meanwhile, is left to its stop.
  return there.filter(({ uid }) => preempt(draft, uid, { reason, actor: controllerActor, nowMs }).ok).length;
}

function newRow(id: string, actor: string, nowMs: number): Machine {
  return {
    id,
    address: null,
    identity: null,
    scheduling: 'OPEN',
    drainDeadlineMs: null,
    attributes: {},
    taints: [],
    wakeAddress: null,
    addedAtMs: nowMs,
    addedBy: actor,
  };
}

function mayManage({ mayManage: may, actor }: Administrator, what: string): Result<null> {
  if (may) return ok(null);
  return refuse(
    'PERMISSION_DENIED',
    `${actor} may not ${what}: only who administers this cluster, the owner of its data folder, may.`,
  );
}

function named(id: string): (machine: { readonly id: string }) => boolean {
  return (machine) => machine.id.toLowerCase() === id.toLowerCase();
}

const settings = ['scheduling', 'drainDeadlineMs', 'attributes', 'taints', 'wakeAddress'] as const;

function differences(before: Machine, after: Machine): Readonly<Record<string, unknown>> {
  const changed = settings.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  const part = (row: Machine) => Object.fromEntries(changed.map((key) => [key, row[key]]));
  return { before: part(before), after: part(after) };
}

function auditMachine(
  draft: Draft,
  { actor, nowMs }: Pick<Administrator, 'actor' | 'nowMs'>,
  action: AuditAction,
  machineId: string,
  detail: Readonly<Record<string, unknown>>,
): void {
  draft.audit(nowMs, actor, action, `machine/${machineId}`, detail);
}
