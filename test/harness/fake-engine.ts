/** A Docker Engine that is none: it answers what the runtime of containers asks, and does wrong what a test wants done wrong. */
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type Docker from 'dockerode';

export interface FakeContainer {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  status: 'created' | 'running' | 'exited' | 'dead';
  exitCode: number;
  finishedAt: string;
  /** Lines of its output so far. */
  readonly lines: string[];
}

type Answer = (request: http.IncomingMessage, response: http.ServerResponse, id: string) => void;

export class FakeEngine {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'iris-fake-engine-'));
  readonly socket = path.join(this.folder, 'docker.sock');
  readonly containers = new Map<string, FakeContainer>();
  /** What it was told to make, in order. */
  readonly plans: Docker.ContainerCreateOptions[] = [];
  /** What was asked, as `POST start`. */
  readonly asked: string[] = [];
  /** Its clock is so far ahead. */
  aheadMs = 0;
  /** In place of the usual answer to such a question. */
  readonly instead = new Map<string, Answer>();
  private readonly events = new Set<http.ServerResponse>();
  private readonly followers = new Map<string, Set<http.ServerResponse>>();
  private readonly server = http.createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<FakeEngine> {
    const engine = new FakeEngine();
    engine.server.listen(engine.socket);
    await once(engine.server, 'listening');
    return engine;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Nobody answers at its socket, until it comes back; what is being asked and listened to goes on. */
  leave(): void {
    renameSync(this.socket, `${this.socket}.away`);
    this.server.closeIdleConnections();
  }

  comeBack(): void {
    renameSync(`${this.socket}.away`, this.socket);
  }

  /** Connections that are open now. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  put(name: string, labels: Readonly<Record<string, string>>): FakeContainer {
    const id = `id-of-${name}`;
    const state = { status: 'created', exitCode: 0, finishedAt: '0001-01-01T00:00:00Z' } as const;
    const made: FakeContainer = { id, name, labels, ...state, lines: [] };
    this.containers.set(id, made);
    return made;
  }

  named(name: string): FakeContainer | undefined {
    return [...this.containers.values()].find((one) => one.name === name || one.id === name);
  }

  say(container: FakeContainer, line: string): void {
    const frame = frameOf(container.lines.length, `${line}\n`);
    container.lines.push(line);
    for (const follower of this.followers.get(container.id) ?? []) follower.write(frame);
  }

  end(container: FakeContainer, exitCode: number): void {
    container.status = 'exited';
    container.exitCode = exitCode;
    container.finishedAt = this.now().toISOString().replace('Z', '000000Z');
    for (const follower of this.followers.get(container.id) ?? []) follower.end();
    const event = { Type: 'container', Action: 'die', Actor: { ID: container.id } };
    for (const listener of this.events) listener.write(`${JSON.stringify(event)}\n`);
  }

  private now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }

  /** Those who listen to its events are cut off. */
  cutOff(): void {
    for (const listener of this.events) listener.destroy();
    this.events.clear();
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://docker');
    const [, kind = '', id = '', what = ''] = url.pathname.split('/');
    const question = `${request.method ?? ''} ${nameOf(kind, id, what)}`;
    this.asked.push(question);
    const body = await read(request);
    const instead = this.instead.get(question);
    if (instead !== undefined) {
      instead(request, response, id);
      return;
    }
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (question === 'GET info') json({ ServerVersion: '28.0.0', SystemTime: this.now().toISOString() });
    else if (question === 'GET events') {
      response.flushHeaders();
      // It remembers nothing.
      if (url.searchParams.has('until')) response.end();
      else this.events.add(response);
    } else if (question === 'GET list') json(this.listOf(url.searchParams));
    else if (question === 'POST create') {
      const plan = JSON.parse(body) as Docker.ContainerCreateOptions;
      this.plans.push(plan);
      json({ Id: this.put(url.searchParams.get('name') ?? '', plan.Labels ?? {}).id }, 201);
    } else this.answerAbout(this.named(id), question, response, json);
  }

  /** Those with the label that is asked for. */
  private listOf(query: URLSearchParams): unknown[] {
    const { label: [label = ''] = [] } = JSON.parse(query.get('filters') ?? '{}') as { label?: string[] };
    const all = [...this.containers.values()];
    const fits = ({ labels }: FakeContainer) =>
      Object.entries(labels).some(([name, value]) => `${name}=${value}` === label);
    return (label === '' ? all : all.filter(fits)).map(rowOf);
  }

  private answerAbout(
    container: FakeContainer | undefined,
    question: string,
    response: http.ServerResponse,
    json: (value: unknown, status?: number) => void,
  ): void {
    if (container === undefined) json({ message: 'No such container' }, 404);
    else if (question === 'POST start') {
      container.status = 'running';
      response.writeHead(204).end();
    } else if (question === 'GET json') json(viewOf(container));
    else if (question === 'GET logs') this.giveLog(container, response);
    else if (question === 'DELETE container') {
      this.containers.delete(container.id);
      response.writeHead(204).end();
    } else json({ message: `the fake knows no ${question}` }, 404);
  }

  private giveLog(container: FakeContainer, response: http.ServerResponse): void {
    response.flushHeaders();
    for (const [at, line] of container.lines.entries()) response.write(frameOf(at, `${line}\n`));
    if (container.status !== 'running') {
      response.end();
      return;
    }
    const followers = this.followers.get(container.id) ?? new Set();
    this.followers.set(container.id, followers.add(response));
  }
}

/** `start`, `logs` and the like of a container; `list` and `create`; else `info`, `events`. */
function nameOf(kind: string, id: string, what: string): string {
  if (what !== '') return what;
  if (kind !== 'containers') return kind;
  return id === 'json' ? 'list' : id === 'create' ? 'create' : 'container';
}

async function read(request: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return text;
}

const rowOf = ({ id, status, labels }: FakeContainer) => ({ Id: id, State: status, Labels: labels });

function viewOf({ id, name, labels, status, exitCode, finishedAt }: FakeContainer): unknown {
  const time = '2026-11-30T10:00:00.000000000Z';
  return {
    Id: id,
    Name: `/${name}`,
    State: {
      Status: status,
      Running: status === 'running',
      ExitCode: exitCode,
      StartedAt: status === 'created' ? '0001-01-01T00:00:00Z' : time,
      FinishedAt: finishedAt,
    },
    Config: { Labels: labels },
  };
}

/** Stamped a millisecond after the one before, as the Engine stamps messages. */
export function frameOf(at: number, text: string): Buffer {
  const stamp = new Date(Date.parse('2026-11-30T10:00:00Z') + at).toISOString().replace('Z', '000000Z');
  const payload = Buffer.from(`${stamp} ${text}`);
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}
