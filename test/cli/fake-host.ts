/** A host on a real socket whose answers a test decides. Frames are checked by the contract's schemas on both ways. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  contractVersion,
  methods,
  type MethodName,
  type MethodResult,
  type ParsedParams,
} from '../../core/contract/api.js';
import type { TopicDelta } from '../../core/contract/api.js';
import { refusal, RefusalError, type Refusal } from '../../core/contract/errors.js';
import { readHostFrame } from '../../core/contract/host-frames.js';
import { clientFrameSchema, type HostFrame } from '../../core/contract/protocol.js';
import type { ImageNews } from '../../core/contract/machines.js';
import type { Question } from '../../core/contract/questions.js';
import type { HostStatus, JobSummary, TaskView } from '../../core/contract/views.js';
import { resolveHome, prepareHome, type Home } from '../../main/home.js';
import { listenOnSocket, type SocketServer } from '../../main/server/socket-server.js';

export type Answers = {
  [M in MethodName]?: (params: ParsedParams<M>) => MethodResult<M> | Promise<MethodResult<M>>;
};

export function hostStatus(home: Home, more: Partial<HostStatus> = {}): HostStatus {
  return {
    contractVersion,
    appVersion: '0.1.0',
    host: 'headless',
    runtime: 'Node 20.0.0',
    // More than any system gives out: nobody's.
    pid: 5_000_000,
    startedAtMs: 1_700_000_000_000,
    home: home.root,
    user: 'ada',
    clusterName: 'local',
    healthy: true,
    health: 'healthy',
    counts: { running: 0, waiting: 0, failedUnseen: 0, finished: 0 },
    pragmas: { journal_mode: 'wal' },
    ...more,
  };
}

interface Subscribed {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  seq: number;
  send(frame: HostFrame): void;
}

export class FakeHost {
  readonly calls: { method: MethodName; params: unknown }[] = [];
  private readonly subscriptions = new Set<Subscribed>();
  private readonly open = new Set<() => void>();
  private server: SocketServer | null = null;
  /** State each new subscription of topic job gets. */
  job: { summary: JobSummary; tasks: TaskView[] } | null = null;
  question: Question | null = null;
  images: ImageNews = { changes: 0, cacheChanges: 0, pulls: [] };
  log = new Map<string, TopicDelta<'log'>>();

  private constructor(
    readonly home: Home,
    public answers: Answers,
  ) {}

  static async start(answers: Answers): Promise<FakeHost> {
    const folder = await mkdtemp(path.join(tmpdir(), 'iris-cli-'));
    const home = resolveHome({ flag: folder, machineId: 'aaaaaaaaaaaa' });
    prepareHome(home);
    const host = new FakeHost(home, {
      hello: () => hostStatus(home),
      status: () => hostStatus(home),
      ...answers,
    });
    await host.listen();
    return host;
  }

  async listen(): Promise<void> {
    this.server = await listenOnSocket(this.home.socket, (transport) => {
      const mine = new Set<Subscribed>();
      const send = (frame: HostFrame) => {
        if (readHostFrame(frame) === null) throw new Error(`No frame of a host: ${JSON.stringify(frame)}`);
        transport.send(frame);
      };
      this.open.add(transport.close);
      return {
        receive: (input) => {
          const frame = clientFrameSchema.parse(input);
          if (frame.kind === 'call') void this.call(frame.id, frame.method, frame.params, send);
          if (frame.kind === 'subscribe') {
            const filter = frame.filter as { jobId?: string; attemptUid?: string; address?: string };
            const subscribed = {
              id: frame.id,
              topic: frame.topic,
              key: filter.jobId ?? filter.attemptUid ?? filter.address ?? '',
              seq: 0,
              send,
            };
            mine.add(subscribed);
            this.subscriptions.add(subscribed);
            const value = this.valueOf(frame.topic, subscribed.key);
            if (value === null || value === undefined) {
              send({
                kind: 'refused',
                id: frame.id,
                refusal: refusal('NOT_FOUND', `There is no ${subscribed.key}.`),
              });
            } else {
              send({ kind: 'snapshot', id: frame.id, value });
            }
          }
          if (frame.kind === 'unsubscribe') {
            for (const one of mine) if (one.id === frame.id) this.subscriptions.delete(one);
          }
        },
        close: () => {
          for (const one of mine) this.subscriptions.delete(one);
          this.open.delete(transport.close);
        },
      };
    });
  }

  private valueOf(topic: string, key: string): unknown {
    if (topic === 'questions') return { question: this.question };
    if (topic === 'images') return this.images;
    return topic === 'job' ? this.job : this.log.get(key);
  }

  /** Asks it of everybody who listens, or nothing any more. */
  ask(question: Question | null, address: string): void {
    this.question = question;
    this.delta('questions', address, { question });
  }

  changeImages(news: ImageNews): void {
    this.images = news;
    this.delta('images', '', news);
  }

  /** Tells everybody who watches the job; new subscriptions begin with it. */
  changeJob(summary: JobSummary, tasks: TaskView[]): void {
    this.job = { summary, tasks };
    this.delta('job', summary.id, { summary, tasks });
  }

  changeLog(uid: string, value: TopicDelta<'log'>): void {
    this.log.set(uid, value);
    this.delta('log', uid, value);
  }

  watchers(topic: string): number {
    return [...this.subscriptions].filter((one) => one.topic === topic).length;
  }

  /** Ends every connection and stops listening, as a host that dies or, with a reason, one that takes its leave. */
  async end(leave?: Refusal): Promise<void> {
    for (const one of this.subscriptions) {
      if (leave !== undefined) one.send({ kind: 'refused', id: one.id, refusal: leave });
    }
    for (const close of this.open) close();
    await this.server?.close();
    this.server = null;
  }

  async dispose(): Promise<void> {
    if (this.server !== null) await this.end();
    await rm(this.home.root, { recursive: true, force: true });
  }

  private delta(topic: string, key: string, value: unknown): void {
    for (const one of this.subscriptions) {
      if (one.topic !== topic || one.key !== key) continue;
      one.seq += 1;
      one.send({ kind: 'delta', id: one.id, seq: one.seq, value });
    }
  }

  private async call(
    id: number,
    method: MethodName,
    input: unknown,
    send: (frame: HostFrame) => void,
  ): Promise<void> {
    const params = methods[method].params.parse(input);
    this.calls.push({ method, params });
    const answer = this.answers[method] as ((params: unknown) => unknown) | undefined;
    try {
      if (answer === undefined)
        throw new RefusalError(refusal('UNIMPLEMENTED', `The test has no answer to ${method}.`));
      send({ kind: 'result', id, value: await answer(params) });
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      send({ kind: 'refused', id, refusal: error.refusal });
    }
  }
}
