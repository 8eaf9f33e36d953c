/**
 * Fifty workstations behind one backend, each a fake that does at once what it is asked: what a round costs of our processor time when
 * all of them have told of their load, some attempts have ended and others take their places.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseJobRequest } from '../../core/contract/job-request.js';
import type { Machine } from '../../core/model/entities.js';
import type { BackendListener, WorkerObservation } from '../../main/backends/backend.js';
import { createFleet } from '../../main/backends/workstation/fleet.js';
import { Controller } from '../../main/controller/controller.js';
import { noChanges } from '../../main/controller/merge-changes.js';
import { randomHex } from '../../main/controller/random-hex.js';
import { openStore } from '../../main/store/store.js';
import { fakeWorker } from '../harness/fake-backend.js';
import { RoundBackend } from './children/round-backend.js';
import { limit, percentile, type BenchContext } from './harness.js';

export const name = 'fleet';

const machines = 50;
const tasksEach = 8;
const waiting = 200;
const rounds = 60;
const warmUp = 10;
const restMs = 8;
const wantedMs = 20;

/** One workstation, whose load is another each time it is asked. */
class Workstation extends RoundBackend {
  private samples = 0;
  private told: BackendListener | null = null;

  constructor(private readonly worker: WorkerObservation) {
    super([worker]);
  }

  override describe(): ReturnType<RoundBackend['describe']> {
    return { ...super.describe(), id: this.worker.id };
  }

  override async start(listener: BackendListener): Promise<void> {
    await super.start(listener);
    this.told = listener;
  }

  override observe(): readonly WorkerObservation[] {
    return [{ ...this.worker, cpuBusyPercent: this.samples % 100, sampledAtMs: this.samples }];
  }

  sample(): void {
    this.samples += 1;
    this.told?.workers(this.observe());
  }
}

function workstation(at: number): Workstation {
  const id = `ws-${String(at).padStart(2, '0')}`;
  const cpuMillicores = tasksEach * 4000;
  const away = {
    address: `ssh://${id}`,
    contact: { state: 'CONNECTED', sinceMs: 1, lastContactMs: 1, message: null },
  } as const;
  return new Workstation({
    ...fakeWorker,
    id,
    hostname: id,
    cpuMillicores,
    memoryBytes: 256e9,
    attributes: { hostname: id, rack: `r${at % 5}`, 'device-type': 'cpu' },
    ...(at === 0 ? {} : away),
  });
}

export async function run(context: BenchContext): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-bench-fleet-'));
  const silent = () => undefined;
  const logger = { info: silent, warn: silent, error: silent };
  const nowMs = () => Date.now();
  const monotonicMs = () => performance.now();
  const all = Array.from({ length: machines }, (_, at) => workstation(at));
  const [local, ...others] = all;
  if (local === undefined) throw new Error('There is no machine.');
  const fleet = createFleet({ local, machines: others, log: logger, nowMs });
  const reconcileMs: number[] = [];
  const reconcile = fleet.reconcile.bind(fleet);
  fleet.reconcile = (desired) => {
    const before = process.cpuUsage();
    reconcile(desired);
    reconcileMs.push(processorMs(before));
  };
  const store = openStore({ path: path.join(folder, 'iris.db'), nowMs, log: logger, appVersion: 'bench' });
  store.commit({
    ...noChanges,
    machines: others.map((machine) => {
      const { id } = machine.describe();
      const row: Machine = {
        id,
        address: `ssh://${id}`,
        identity: id,
        scheduling: 'OPEN',
        drainDeadlineMs: null,
        attributes: {},
        taints: [],
        wakeAddress: null,
        addedAtMs: 1,
        addedBy: 'bench',
      };
      return { id, machine: row };
    }),
  });
  const controller = new Controller({
    store,
    backend: fleet,
    logger,
    nowMs,
    monotonicMs,
    random: randomHex,
    homeRoot: folder,
    advertiseHost: 'localhost',
  });
  const calm = async (): Promise<void> => {
    do await pause(restMs);
    while (controller.busy() || all.some((machine) => machine.busy));
  };
  try {
    await controller.start();
    const request = {
      command: ['true'],
      workingDirectory: '/',
      cpu: 4,
      memory: 8e9,
      replicas: machines * tasksEach + waiting,
    };
    const parsed = parseJobRequest(request);
    if (!parsed.ok) throw new Error(parsed.refusal.message);
    // Enough that places are taken again to the last round.
    const jobs = Math.ceil(((warmUp + rounds) * machines) / request.replicas) + 1;
    for (let at = 0; at < jobs; at += 1)
      await controller.submit({
        spec: parsed.value,
        identity: { user: 'bench' },
        requestId: `bench-${at}`,
        retryOf: null,
      });
    await calm();
    const running = () => [...controller.memory.unfinishedAttempts()];
    context.note(`${running().length} tasks run on ${controller.placement.machines.length} machines`);
    reconcileMs.length = 0;
    const roundMs: number[] = [];
    for (let at = 0; at < warmUp + rounds; at += 1) {
      // One attempt of every machine ends, and all machines tell of their load.
      const ended = new Map(running().map((attempt) => [attempt.workerId, attempt.uid]));
      const before = process.cpuUsage();
      const callsBefore = reconcileMs.length;
      for (const machine of all) {
        machine.succeed(ended.get(machine.describe().id) ?? '');
        machine.sample();
      }
      await calm();
      const calls = Math.max(1, reconcileMs.length - callsBefore);
      if (at >= warmUp) roundMs.push(processorMs(before) / calls);
      else reconcileMs.length = 0;
    }
    context.note(`${reconcileMs.length} reconciles in ${rounds} times ${machines} ends and samples`);
    const shown = (figure: string, value: number, atMost?: number) =>
      context.figure(limit({ name: figure, value, unit: 'ms', ...(atMost === undefined ? {} : { atMost }) }));
    const what = `${machines} workstations, processor time of`;
    shown(`${what} a reconcile, median`, percentile(reconcileMs, 0.5), wantedMs);
    shown(`${what} a reconcile, p95`, percentile(reconcileMs, 0.95), wantedMs);
    shown(`${what} a round with what led to it, median`, percentile(roundMs, 0.5), wantedMs);
  } finally {
    controller.stop();
    await controller.backend.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function processorMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
