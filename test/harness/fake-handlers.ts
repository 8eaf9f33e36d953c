/** What the fake controller answers to each method. */
import type { MethodName, MethodResult, ParsedParams } from '../../core/contract/api.js';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import { parseJobRequest } from '../../core/contract/job-request.js';
import { bands, isTerminalJobState } from '../../core/contract/states.js';
import type { JobSummary, Overview } from '../../core/contract/views.js';
import {
  fakeBandError,
  fakeBudgetOf,
  fakeBudgetsTopic,
  setFakeBudget,
  setFakeHalfLife,
} from './fake-budgets.js';
import { fakeCauses, fakeSpec, fakeSummary, fakeUser } from './fake-data.js';
import { changeFakeJob, fakeQueue } from './fake-queue.js';
import { fakeCacheHandlers } from './fake-caches.js';
import { fakeMachineHandlers } from './fake-machines.js';
import type { FakeHost } from './fake-host.js';

const utf8 = new TextEncoder();

/** Of a log one answer looks through so much; a test sets less. */
export const fakeBounds = { searchedAtOnce: Infinity };

export function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(text);
}

export function overviewOf(host: FakeHost): Overview {
  const roots = [...host.jobs.values()].filter((row) => row.parentId === null);
  const newest = (a: JobSummary, b: JobSummary) => b.submittedAtMs - a.submittedAtMs;
  return {
    machines: host.machines,
    counts: host.counts(),
    running: roots
      .filter((row) => row.state === 'RUNNING')
      .sort(newest)
      .slice(0, 20),
    waiting: roots
      .filter((row) => row.state === 'PENDING')
      .sort((a, b) => bands.indexOf(a.band) - bands.indexOf(b.band) || a.submittedAtMs - b.submittedAtMs)
      .slice(0, 20),
    recent: roots
      .filter((row) => isTerminalJobState(row.state))
      .sort((a, b) => (b.finishedAtMs ?? 0) - (a.finishedAtMs ?? 0))
      .slice(0, 10),
  };
}

export function runMethod(host: FakeHost, method: MethodName, input: unknown): unknown {
  const handlers: { [M in MethodName]: (params: ParsedParams<M>) => MethodResult<M> } = {
    ...fakeMachineHandlers(host),
    ...fakeCacheHandlers(host),
    hello: () => host.status,
    status: () => host.status,
    'job.submit': (params) =>
      once(host, params.requestId, () => submit(host, params.request, params.retryOf)),
    'job.check': (params) => {
      const spec = parseJobRequest(params.request);
      if (!spec.ok) {
        return {
          fields: spec.refusal.fields,
          verdict: 'INVALID' as const,
          message: spec.refusal.message,
          commandLine: '',
          dryRun: null,
        };
      }
      const band = fakeBandError(host.budgets, spec.value.priority);
      if (band !== null) {
        return {
          fields: [band],
          verdict: 'INVALID' as const,
          message: `${fakeUser} may not submit to ${spec.value.priority}.`,
          commandLine: '',
          dryRun: null,
        };
      }
      const gpus = host.machines.reduce((sum, machine) => sum + machine.gpus.length, 0);
      const commandLine = `irisctl job run -- ${spec.value.command.join(' ')}`;
      if (spec.value.gpuCount > gpus) {
        return {
          fields: [],
          verdict: 'NEVER' as const,
          message: `Needs ${spec.value.gpuCount} GPUs; this machine has ${gpus}.`,
          commandLine,
          dryRun: null,
        };
      }
      if (spec.value.gpuCount > 1) {
        return {
          fields: [],
          verdict: 'WAITS' as const,
          message: 'Waits for GPUs: about 14:20, behind train-llm.',
          commandLine,
          dryRun: null,
        };
      }
      const { workingDirectory: folder } = spec.value;
      const expected = 'a folder that exists on ws-1 and may be entered';
      return {
        fields: folder.startsWith('/missing/')
          ? [{ field: 'workingDirectory', value: folder, expected }]
          : [],
        verdict: 'STARTS_NOW' as const,
        message: 'Starts now on ws-1.',
        commandLine,
        dryRun: null,
      };
    },
    'job.list': (params) => list(host, params),
    'job.children': (params) => {
      const rows = [...host.jobs.values()]
        .filter((row) => row.parentId === params.jobId)
        .sort((a, b) => a.submittedAtMs - b.submittedAtMs);
      return { total: rows.length, rows: rows.slice(params.offset, params.offset + params.limit) };
    },
    'job.get': (params) => {
      const row = findJob(host, params.jobId);
      const parts = row.id.split('/').filter((part) => part !== '');
      return {
        summary: row,
        spec: host.specs.get(row.id) ?? fakeSpec(row),
        submittedBy: row.user,
        ancestors: parts.slice(2).map((_part, index) => `/${parts.slice(0, index + 2).join('/')}`),
      };
    },
    'task.list': (params) => {
      const tasks = host.tasksOf(findJob(host, params.jobId).id);
      return { total: tasks.length, rows: tasks.slice(params.offset, params.offset + params.limit) };
    },
    'job.stop': (params) =>
      once(host, params.requestId, () => ({ results: params.jobIds.map((id) => stop(host, id)) })),
    'job.retry': (params) =>
      once(host, params.requestId, () => ({ results: params.jobIds.map((id) => retry(host, id)) })),
    'log.read': (params) => {
      const log = host.logOf(params.attemptUid);
      const bytes = log[params.stream].subarray(params.offset, params.offset + params.maxBytes);
      return { dataBase64: toBase64(bytes), size: log[params.stream].length, complete: log.complete };
    },
    'log.merged': (params) => merged(host, params),
    'log.search': (params) => {
      const text = new TextDecoder().decode(host.logOf(params.attemptUid)[params.stream]);
      const wanted = params.matchCase ? params.text : params.text.toLowerCase();
      const matches: { offset: number; line: string }[] = [];
      let offset = 0;
      for (const line of text.split('\n')) {
        const compared = params.matchCase ? line : line.toLowerCase();
        if (offset >= params.offset + fakeBounds.searchedAtOnce) return { matches, nextOffset: offset };
        if (offset >= params.offset && compared.includes(wanted)) matches.push({ offset, line });
        offset += utf8.encode(line).length + 1;
      }
      const page = matches.slice(0, params.limit);
      const next = matches[params.limit];
      return { matches: page, nextOffset: next === undefined ? null : next.offset };
    },
    'job.change': (params) =>
      once(host, params.requestId, () => {
        const results = params.jobIds.map((id) => ({
          id,
          newId: null,
          refusal: changeFakeJob(host, id, params.change),
        }));
        queueMicrotask(() => {
          host.publish();
        });
        return { results };
      }),
    'job.explain': (params) => ({ explanation: host.queue.explanations.get(params.jobId) ?? null }),
    'debug.record': () => ({ path: null }),
    'queue.get': () => fakeQueue(host),
    'queue.history': (params) => ({
      items: host.queue.history
        .filter((item) => (item.toMs ?? 0) >= params.sinceMs)
        .sort((a, b) => (b.toMs ?? 0) - (a.toMs ?? 0))
        .slice(0, params.limit),
    }),
    'overview.get': () => overviewOf(host),
    'budget.list': () => {
      const { mayManage, halfLifeMs, rows } = host.budgets;
      return { me: fakeUser, mayManage, halfLifeMs, budgets: rows };
    },
    'budget.halfLife': ({ halfLifeMs }) => {
      setFakeHalfLife(host.budgets, halfLifeMs);
      queueMicrotask(() => {
        host.tell('budgets', () => fakeBudgetsTopic(host.budgets));
      });
      return { halfLifeMs };
    },
    'budget.get': (params) => fakeBudgetOf(host.budgets, params.user),
    'budget.set': (params) => {
      const row = once(host, params.requestId, () => setFakeBudget(host.budgets, params));
      queueMicrotask(() => {
        host.tell('budgets', () => fakeBudgetsTopic(host.budgets));
      });
      return row;
    },
    'audit.list': (params) => ({
      events: host.lab.audit
        .filter(
          ({ id, entity }) =>
            (params.beforeId === undefined || id < params.beforeId) &&
            (params.entity === undefined ||
              entity === params.entity ||
              entity.startsWith(`${params.entity}/`)),
        )
        .slice(0, params.limit),
    }),
    'inbox.list': (params) => ({
      items: host.inbox
        .filter((item) => params.beforeId === undefined || item.id < params.beforeId)
        .slice(0, params.limit),
      unread: host.unread(),
    }),
    'inbox.read': (params) => {
      host.inbox.forEach((item, index) => {
        if (params.ids === undefined || params.ids.includes(item.id))
          host.inbox[index] = { ...item, read: true };
      });
      host.tell('inbox', () => ({ items: [], unread: host.unread() }));
      return { unread: host.unread() };
    },
    shutdown: () => ({}),
  };
  const handler = handlers[method] as (params: unknown) => unknown;
  return handler(input);
}

function once<T>(host: FakeHost, requestId: string, make: () => T): T {
  if (!host.receipts.has(requestId)) host.receipts.set(requestId, make());
  return host.receipts.get(requestId) as T;
}

function findJob(host: FakeHost, id: string): JobSummary {
  const row = host.jobs.get(id) ?? [...host.jobs.values()].find((item) => item.name === id);
  if (row === undefined) throw new RefusalError(refusal('NOT_FOUND', `There is no job ${id}.`));
  return row;
}

function list(host: FakeHost, params: ParsedParams<'job.list'>): MethodResult<'job.list'> {
  const { filter, sort } = params;
  const words = (filter.search ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const rows = [...host.jobs.values()].filter((row) => {
    const text = `${row.id} ${row.commandLine}`.toLowerCase();
    return (
      (!filter.rootsOnly || row.parentId === null) &&
      (filter.states === undefined || filter.states.includes(row.state)) &&
      (filter.user === undefined || row.user === filter.user) &&
      (filter.sinceMs === undefined || row.submittedAtMs >= filter.sinceMs) &&
      (filter.finishedSinceMs === undefined || (row.finishedAtMs ?? 0) >= filter.finishedSinceMs) &&
      words.every((word) => text.includes(word))
    );
  });
  const key = (row: JobSummary): number | string => {
    switch (sort.key) {
      case 'submitted':
        return row.submittedAtMs;
      case 'name':
        return row.name;
      case 'state':
        return row.state;
      case 'finished':
        return row.finishedAtMs ?? 0;
      case 'duration':
        return row.startedAtMs === null ? 0 : (row.finishedAtMs ?? host.nowMs) - row.startedAtMs;
    }
  };
  const sign = sort.descending ? -1 : 1;
  rows.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    return sign * (left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1);
  });
  return { total: rows.length, rows: rows.slice(params.offset, params.offset + params.limit) };
}

function submit(host: FakeHost, request: unknown, retryOf: string | null): MethodResult<'job.submit'> {
  const spec = parseJobRequest(request);
  if (!spec.ok) {
    throw new RefusalError(spec.refusal);
  }
  const name = spec.value.name ?? `job-${(host.nextRun++).toString(16).padStart(4, '0')}`;
  const id = `${spec.value.parent ?? `/${fakeUser}`}/${name}`;
  if (host.jobs.has(id)) {
    throw new RefusalError(
      refusal('ALREADY_EXISTS', `A job named ${name} exists.`, [
        { field: 'name', value: name, expected: 'a name that no unfinished job of yours has' },
      ]),
    );
  }
  host.specs.set(id, spec.value);
  host.put(
    fakeSummary({
      id,
      state: 'PENDING',
      submittedAtMs: host.nowMs,
      numTasks: spec.value.replicas,
      gpuCount: spec.value.gpuCount * spec.value.replicas,
      commandLine: spec.value.command.join(' '),
      retryOf,
    }),
  );
  queueMicrotask(() => {
    host.publish();
  });
  return { jobId: id, existed: false, warnings: [] };
}

function stop(host: FakeHost, id: string): MethodResult<'job.stop'>['results'][number] {
  const row = host.jobs.get(id);
  if (row === undefined) return { id, newId: null, refusal: refusal('NOT_FOUND', `There is no job ${id}.`) };
  if (isTerminalJobState(row.state)) {
    return { id, newId: null, refusal: refusal('FAILED_PRECONDITION', `${row.name} has ended already.`) };
  }
  host.change(id, {
    state: 'KILLED',
    finishedAtMs: host.nowMs,
    waiting: null,
    cause: fakeCauses.stopped,
    taskCounts: { KILLED: row.numTasks },
  });
  queueMicrotask(() => {
    host.publish();
  });
  return { id, newId: null, refusal: null };
}

function retry(host: FakeHost, id: string): MethodResult<'job.retry'>['results'][number] {
  const row = host.jobs.get(id);
  if (row === undefined) return { id, newId: null, refusal: refusal('NOT_FOUND', `There is no job ${id}.`) };
  if (!isTerminalJobState(row.state)) {
    return { id, newId: null, refusal: refusal('FAILED_PRECONDITION', `${row.name} has not ended.`) };
  }
  const newId = `${row.id}-r${host.nextRun++}`;
  host.put(
    fakeSummary({
      id: newId,
      state: 'PENDING',
      submittedAtMs: host.nowMs,
      numTasks: row.numTasks,
      gpuCount: row.gpuCount,
      commandLine: row.commandLine,
      retryOf: id,
    }),
  );
  queueMicrotask(() => {
    host.publish();
  });
  return { id, newId, refusal: null };
}

function merged(host: FakeHost, params: ParsedParams<'log.merged'>): MethodResult<'log.merged'> {
  const log = host.logOf(params.attemptUid);
  const half = Math.max(1, Math.floor(params.maxBytes / 2));
  const from =
    params.cursor ??
    (params.tail
      ? { out: Math.max(0, log.out.length - half), err: Math.max(0, log.err.length - half) }
      : { out: 0, err: 0 });
  const out = log.out.subarray(from.out, from.out + half);
  const err = log.err.subarray(from.err, from.err + half);
  const cursor = { out: from.out + out.length, err: from.err + err.length };
  return {
    chunks: [
      ...(out.length > 0 ? [{ stream: 'out' as const, offset: from.out, dataBase64: toBase64(out) }] : []),
      ...(err.length > 0 ? [{ stream: 'err' as const, offset: from.err, dataBase64: toBase64(err) }] : []),
    ],
    cursor,
    outSize: log.out.length,
    errSize: log.err.length,
    complete: log.complete && cursor.out === log.out.length && cursor.err === log.err.length,
  };
}
