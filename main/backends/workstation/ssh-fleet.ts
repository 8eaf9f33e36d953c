/**
 * The fleet of a controller: its own machine and those it was told of, each by SSH. `backend` is what the controller runs on;
 * `machines` is what it looks at, adds and removes them with.
 */
import type { Backend } from '../backend.js';
import { createFleet, type Fleet } from './fleet.js';
import type { LinkLog } from './process/launcher-link.js';
import { checkMachine, type MachineLook } from './ssh/check-machine.js';
import type { AskDesk } from './ssh/ask-desk.js';
import type { SshClient } from './ssh/ssh-command.js';
import { PendingRemovals } from './ssh/pending-removals.js';
import { toldOfContact } from './ssh/ssh-failure.js';
import { createSshMachine } from './ssh/ssh-machine.js';
import type { SshMachine } from './ssh/ssh-machine-options.js';

export interface SshFleetOptions {
  readonly local: Backend;
  /** The controller's own folder for accepted host keys and what is remembered of machines. */
  readonly home: string;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Worker an ended attempt was on. */
  readonly workerOf?: (uid: string) => Promise<string | null>;
  /** Unless told, with the configuration IRIS_SSH_CONFIG names, else with the user's own. */
  readonly client?: SshClient | undefined;
  /** Where what SSH clients ask is answered; absent: nowhere. */
  readonly desk?: AskDesk | undefined;
  /** When a removal that waits for its machine is told of; a minute unless told. */
  readonly sayAfterMs?: number | undefined;
}

interface Member {
  readonly id: string;
  readonly address: string;
  readonly identity: string | null;
}

export interface SshFleet {
  readonly backend: Fleet;
  readonly machines: {
    /** `willConnect`: it is added when it is usable. */
    check(address: string, acceptKey: string | null, willConnect?: boolean): Promise<MachineLook>;
    add(machine: Member): void;
    /** Its removal is about to be committed; what is returned takes that back. */
    removing(id: string): () => void;
    /** Finishes what an earlier controller has begun; once all machines were added. */
    resume(): void;
    close(): Promise<void>;
    remove(id: string): Promise<string | null>;
    removal(id: string): Promise<string | null>;
    /** Tries at once. Null: it is in contact. */
    connect(id: string): Promise<{ readonly message: string; readonly isUnanswered: boolean } | null>;
  };
}

export function createSshFleet(options: SshFleetOptions): SshFleet {
  const { local, home, log, nowMs, monotonicMs, workerOf, desk } = options;
  const client = options.client ?? { configFile: process.env['IRIS_SSH_CONFIG'] };
  const backend = createFleet({ local, machines: [], log, nowMs, workerOf });
  const isKnown = workerOf === undefined ? undefined : async (uid: string) => (await workerOf(uid)) !== null;
  const open = ({ id, address, identity }: Member): SshMachine =>
    createSshMachine({ name: id, address, identity, home, log, nowMs, monotonicMs, isKnown, client, desk });
  const pending = new PendingRemovals({ home, log, open, sayAfterMs: options.sayAfterMs });
  const machines = new Map<string, SshMachine>();
  const members = new Map<string, Member>();
  const removals = new Map<string, Promise<string | null>>();
  /** One look at a time: two at one machine would be in each other's way. */
  let looking: Promise<unknown> = Promise.resolve();
  desk?.onListener(() => {
    for (const machine of machines.values()) machine.listenedTo();
  });
  return {
    backend,
    machines: {
      check: (address, acceptKey, willConnect = false) => {
        const look = () =>
          checkMachine({ address, acceptKey, home, nowMs, monotonicMs, client, desk, willConnect });
        const next = looking.then(look);
        looking = next.catch(() => undefined);
        return next;
      },
      add: (member) => {
        const { id } = member;
        if (machines.has(id)) return;
        pending.usedAgain(member);
        const machine = open(member);
        backend.add(machine);
        removals.delete(id);
        machines.set(id, machine);
        members.set(id, member);
      },
      removing: (id) => {
        const member = members.get(id);
        if (member === undefined) return () => undefined;
        pending.begin(member);
        return () => pending.done(id);
      },
      resume: () => pending.resume(),
      close: () => pending.close(),
      remove: (id) => {
        const machine = machines.get(id);
        const member = members.get(id);
        machines.delete(id);
        members.delete(id);
        if (member !== undefined) pending.begin(member);
        const removal = backend.remove(id).then((left) => {
          // Added anew meanwhile, it remembers for itself.
          if (!machines.has(id)) machine?.forget();
          // What the end of this program cuts off is finished after its next start.
          if (!backend.isClosed) pending.done(id);
          return left;
        });
        removals.set(id, removal);
        return removal;
      },
      removal: (id) => removals.get(id) ?? Promise.resolve(null),
      connect: async (id) => {
        const failure = (await machines.get(id)?.retry()) ?? null;
        if (failure === null) return null;
        const isUnanswered = failure.unanswered !== undefined;
        return { message: toldOfContact(failure), isUnanswered };
      },
    },
  };
}
