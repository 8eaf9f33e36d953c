/** A controller in memory behind the window's bridge, over made-up jobs. Every frame crosses as text, as it does there. */
import {
  contractVersion,
  methods,
  topics,
  type MethodName,
  type ParsedParams,
  type TopicName,
} from '../../core/contract/api.js';
import type {
  ClosingAnswer,
  DesktopBridge,
  DesktopCommand,
  DesktopSettings,
} from '../../core/contract/desktop-bridge.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import { clientFrameSchema, type HostFrame } from '../../core/contract/protocol.js';
import type { MachineView } from '../../core/contract/machines.js';
import type { Counts, HostStatus, InboxItem, JobSummary, TaskView } from '../../core/contract/views.js';
import { fakeBudgets, fakeBudgetsTopic } from './fake-budgets.js';
import { fakeChildren, fakeJobs, fakeMachine, fakeTasks, fakeUser } from './fake-data.js';
import { fakeImageNews, fakeMachineState } from './fake-machines.js';
import { fakeQueue, fakeQueueState } from './fake-queue.js';
import { joined, overviewOf, runMethod } from './fake-handlers.js';
import { JobCounts } from './job-counts.js';

export interface FakeHostOptions {
  readonly jobs?: number | readonly JobSummary[];
  readonly nowMs?: number;
  readonly machine?: Partial<MachineView>;
  readonly status?: Partial<HostStatus>;
  readonly settings?: Partial<DesktopSettings>;
}

interface FakeLog {
  out: Uint8Array;
  err: Uint8Array;
  complete: boolean;
}

interface FakeSubscription {
  readonly topic: TopicName;
  readonly filter: Readonly<Record<string, unknown>>;
  seq: number;
}

interface FakePort {
  readonly subscriptions: Map<number, FakeSubscription>;
  frame(frame: HostFrame): void;
  closed(): void;
}

const utf8 = new TextEncoder();

export class FakeHost {
  readonly jobs = new Map<string, JobSummary>();
  readonly tasks = new Map<string, TaskView[]>();
  readonly specs = new Map<string, JobSpec>();
  readonly logs = new Map<string, FakeLog>();
  readonly inbox: InboxItem[] = [];
  readonly budgets = fakeBudgets();
  readonly queue = fakeQueueState();
  readonly lab = fakeMachineState();
  /** Every call that arrived, in order. */
  readonly calls: { readonly method: MethodName; readonly params: unknown }[] = [];
  readonly savedLogs: string[] = [];
  readonly closingAnswers: ClosingAnswer[] = [];
  readonly bridge: DesktopBridge;
  nowMs: number;
  private readonly counted: JobCounts;
  /** Answers kept back; null while none are. */
  held: (() => void)[] | null = null;
  /** While false no connection can be opened. */
  reachable = true;
  /** What the folder picker answers. */
  pickedFolder: string | null = '/home/anna/work';
  status: HostStatus;
  machines: MachineView[];
  settings: DesktopSettings;
  private readonly ports = new Set<FakePort>();
  private readonly refusals = new Map<MethodName, { refusal: Refusal; times: number }>();
  private readonly commandListeners = new Set<(command: DesktopCommand) => void>();
  readonly receipts = new Map<string, unknown>();
  private changedJobs = new Set<string>();
  private removedJobs = new Set<string>();
  nextRun = 1;

  constructor(options: FakeHostOptions = {}) {
    this.nowMs = options.nowMs ?? Date.now();
    this.counted = new JobCounts(this.nowMs);
    const wanted = options.jobs ?? 12;
    const roots = typeof wanted === 'number' ? fakeJobs(wanted, this.nowMs) : wanted;
    for (const row of [...roots, ...(typeof wanted === 'number' ? fakeChildren(roots) : [])]) this.put(row);
    this.changedJobs.clear();
    this.machines = [fakeMachine(this.nowMs, options.machine)];
    this.settings = { closeToTray: 'ask', notificationsPaused: false, theme: 'system', ...options.settings };
    this.status = {
      contractVersion,
      appVersion: '0.1.0',
      host: 'desktop',
      runtime: 'Electron 45.5.0',
      pid: 4100,
      startedAtMs: this.nowMs - 3_600_000,
      home: '/home/anna/.local/share/iris-desktop',
      user: fakeUser,
      clusterName: 'local',
      healthy: true,
      health: 'All is well.',
      counts: this.counts(),
      pragmas: { journal_mode: 'wal', synchronous: 2 },
      ...options.status,
    };
    this.bridge = this.makeBridge();
  }

  counts(): Counts {
    return this.counted.now();
  }

  /** Adds or replaces a row; told to listeners by `publish`. */
  put(row: JobSummary): void {
    this.counted.replace(this.jobs.get(row.id), row);
    this.jobs.set(row.id, row);
    this.removedJobs.delete(row.id);
    this.changedJobs.add(row.id);
  }

  change(id: string, part: Partial<JobSummary>): void {
    const before = this.jobs.get(id);
    if (before === undefined) throw new Error(`no job ${id}`);
    this.tasks.delete(id);
    this.put({ ...before, ...part });
  }

  remove(id: string): void {
    this.counted.replace(this.jobs.get(id), undefined);
    this.jobs.delete(id);
    this.changedJobs.delete(id);
    this.removedJobs.add(id);
  }

  /** Sends what changed since the last time, one delta a subscription. */
  publish(): void {
    this.publishJobs();
    this.publishOverview();
    this.tell('queue', () => fakeQueue(this));
  }

  /** Only what tells of jobs, which a controller sends more often than the rest. */
  publishJobs(): void {
    const rows = [...this.changedJobs].flatMap((id) => this.jobs.get(id) ?? []);
    const removed = [...this.removedJobs];
    this.changedJobs = new Set();
    this.removedJobs = new Set();
    this.tell('jobs', () => ({ rows, removed, counts: this.counts() }));
    this.tell('job', (filter) => {
      const row = rows.find((item) => item.id === filter['jobId']);
      return row === undefined ? null : { summary: row, tasks: this.tasksOf(row.id) };
    });
  }

  publishOverview(): void {
    this.tell('overview', () => overviewOf(this));
  }

  publishStatus(part: Partial<HostStatus>): void {
    this.status = { ...this.status, ...part };
    this.tell('status', () => this.status);
  }

  addInbox(item: InboxItem): void {
    this.inbox.unshift(item);
    this.tell('inbox', () => ({ items: [item], unread: this.unread() }));
  }

  /** Appends to an attempt's log and tells who follows it. */
  log(attemptUid: string, stream: 'out' | 'err', data: string | Uint8Array, complete = false): void {
    const log = this.logOf(attemptUid);
    log[stream] = joined(log[stream], typeof data === 'string' ? utf8.encode(data) : data);
    log.complete = complete;
    this.tell('log', (filter) => (filter['attemptUid'] === attemptUid ? this.logSize(attemptUid) : null));
  }

  /** The next `times` calls of the method are refused. */
  refuseNext(method: MethodName, value: Refusal, times = 1): void {
    this.refusals.set(method, { refusal: value, times });
  }

  /** Ends every connection, as when the controller dies. */
  disconnect(): void {
    const ports = [...this.ports];
    this.ports.clear();
    for (const port of ports) port.closed();
  }

  /** Keeps every answer back until `release`. */
  hold(): void {
    this.held = [];
  }

  release(): void {
    const waiting = this.held ?? [];
    this.held = null;
    for (const reply of waiting) reply();
  }

  command(command: DesktopCommand): void {
    for (const listener of this.commandListeners) listener(command);
  }

  callsOf<M extends MethodName>(method: M): ParsedParams<M>[] {
    return this.calls.flatMap((call) => (call.method === method ? [call.params as ParsedParams<M>] : []));
  }

  subscriptionsOf(topic: TopicName): number {
    let count = 0;
    for (const port of this.ports) {
      for (const subscription of port.subscriptions.values()) if (subscription.topic === topic) count += 1;
    }
    return count;
  }

  tasksOf(jobId: string): TaskView[] {
    const known = this.tasks.get(jobId);
    if (known !== undefined) return known;
    const row = this.jobs.get(jobId);
    const made = row === undefined ? [] : fakeTasks(row);
    this.tasks.set(jobId, made);
    return made;
  }

  unread(): number {
    return this.inbox.filter((item) => !item.read).length;
  }

  logOf(attemptUid: string): FakeLog {
    const none = () => new Uint8Array();
    const log = this.logs.get(attemptUid) ?? { out: none(), err: none(), complete: false };
    this.logs.set(attemptUid, log);
    return log;
  }

  logSize(attemptUid: string) {
    const log = this.logOf(attemptUid);
    return { outSize: log.out.length, errSize: log.err.length, complete: log.complete };
  }

  tell(topic: TopicName, value: (filter: Readonly<Record<string, unknown>>) => unknown): void {
    for (const port of this.ports) {
      for (const [id, subscription] of port.subscriptions) {
        if (subscription.topic !== topic) continue;
        const next = value(subscription.filter);
        if (next === null) continue;
        subscription.seq += 1;
        port.frame({ kind: 'delta', id, seq: subscription.seq, value: next });
      }
    }
  }

  private makeBridge(): DesktopBridge {
    return {
      connect: (onFrame, onClosed) => {
        let open = true;
        const port: FakePort = {
          subscriptions: new Map(),
          frame: (frame) => {
            if (open) onFrame(JSON.stringify(frame));
          },
          closed: () => {
            if (!open) return;
            open = false;
            onClosed();
          },
        };
        if (this.reachable) this.ports.add(port);
        else queueMicrotask(port.closed);
        return {
          send: (frame) => {
            if (open && this.ports.has(port)) this.receive(port, JSON.parse(JSON.stringify(frame)));
          },
          close: () => {
            open = false;
            this.ports.delete(port);
          },
        };
      },
      pickFolder: () => Promise.resolve(this.pickedFolder),
      saveText: (suggestedName, attemptUid, stream) => {
        this.savedLogs.push(`${suggestedName} ${attemptUid} ${stream}`);
        return Promise.resolve({ path: `/home/anna/${suggestedName}` });
      },
      readDroppedPath: (file) => ('path' in file && typeof file.path === 'string' ? file.path : null),
      info: () =>
        Promise.resolve({
          appVersion: '0.1.0',
          runtime: 'Electron 45.5.0',
          runtimeKind: 'npm',
          platform: 'linux',
          homeFolder: '/home/anna',
          shortcutModifier: 'Ctrl',
        }),
      onCommand: (listener) => {
        this.commandListeners.add(listener);
        return () => {
          this.commandListeners.delete(listener);
        };
      },
      answerClosing: (answer) => {
        this.closingAnswers.push(answer);
        return Promise.resolve();
      },
      getSettings: () => Promise.resolve(this.settings),
      setSettings: (change) => {
        this.settings = { ...this.settings, ...change };
        return Promise.resolve(this.settings);
      },
    };
  }

  private receive(port: FakePort, input: unknown): void {
    const frame = clientFrameSchema.parse(input);
    if (frame.kind === 'ack') return;
    if (frame.kind === 'unsubscribe') {
      port.subscriptions.delete(frame.id);
      return;
    }
    const reply = () => {
      if (!this.ports.has(port)) return;
      if (frame.kind === 'subscribe') this.open(port, frame.id, frame.topic, frame.filter);
      else this.answer(port, frame.id, frame.method, frame.params);
    };
    if (this.held !== null) this.held.push(reply);
    else queueMicrotask(reply);
  }

  private open(port: FakePort, id: number, topic: TopicName, filter: unknown): void {
    const parsed = topics[topic].filter.safeParse(filter);
    if (!parsed.success) {
      port.frame({ kind: 'refused', id, refusal: refusal('INVALID_ARGUMENT', parsed.error.message) });
      return;
    }
    const record = parsed.data as Readonly<Record<string, unknown>>;
    if (topic === 'job' && !this.jobs.has(String(record['jobId']))) {
      const missing = refusal('NOT_FOUND', `There is no job ${String(record['jobId'])}.`);
      port.frame({ kind: 'refused', id, refusal: missing });
      return;
    }
    port.subscriptions.set(id, { topic, filter: record, seq: 0 });
    port.frame({ kind: 'snapshot', id, value: this.snapshot(topic, record) });
  }

  private snapshot(topic: TopicName, filter: Readonly<Record<string, unknown>>): unknown {
    const id = String(filter['jobId']);
    switch (topic) {
      case 'jobs':
        return { counts: this.counts() };
      case 'job':
        return { summary: this.jobs.get(id), tasks: this.tasksOf(id).slice(0, 500) };
      case 'log':
        return this.logSize(String(filter['attemptUid']));
      case 'overview':
        return overviewOf(this);
      case 'budgets':
        return fakeBudgetsTopic(this.budgets);
      case 'queue':
        return fakeQueue(this);
      case 'images':
        return fakeImageNews(this.lab);
      case 'questions':
        return { question: this.lab.question };
      case 'inbox':
        return { unread: this.unread() };
      case 'status':
        return this.status;
    }
  }

  private answer(port: FakePort, id: number, method: MethodName, params: unknown): void {
    const parsed = methods[method].params.safeParse(params);
    if (!parsed.success) {
      port.frame({ kind: 'refused', id, refusal: refusal('INVALID_ARGUMENT', parsed.error.message) });
      return;
    }
    this.calls.push({ method, params: parsed.data });
    const planned = this.refusals.get(method);
    if (planned !== undefined && planned.times > 0) {
      planned.times -= 1;
      port.frame({ kind: 'refused', id, refusal: planned.refusal });
      return;
    }
    try {
      port.frame({ kind: 'result', id, value: runMethod(this, method, parsed.data) });
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      port.frame({ kind: 'refused', id, refusal: error.refusal });
    }
  }
}
