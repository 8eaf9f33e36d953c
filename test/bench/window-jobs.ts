/** Many jobs: in a data folder, as a lab that has worked for days leaves it, and in a host that changes them as fast as asked. */
import { contractVersion, methods, type MethodResult } from '../../core/contract/api.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import { readHostFrame } from '../../core/contract/host-frames.js';
import { clientFrameSchema } from '../../core/contract/protocol.js';
import type { JobSummary } from '../../core/contract/views.js';
import type { ChangeSet } from '../../core/model/entities.js';
import { prepareHome, type Home } from '../../main/home.js';
import { listenOnSocket } from '../../main/server/socket-server.js';
import { openStore } from '../../main/store/store.js';
import { appVersion } from '../../main/version.js';
import { fakeJobs } from '../harness/fake-data.js';
import { overviewOf } from '../harness/fake-handlers.js';
import { FakeHost } from '../harness/fake-host.js';
import { changes, makeAttempt, makeJob, makeSpec, makeTask, silent, together } from '../store/builders.js';

/** Evenly over so long, however many: all within what a controller keeps. */
const spanMs = 4 * 86_400_000;
const jobsACommit = 500;

/** Ended jobs, newest first, each with a name of its own. */
function endedJobs(count: number, nowMs: number): JobSummary[] {
  const apartMs = Math.floor(spanMs / count);
  return fakeJobs(count, nowMs).map((row, index) => {
    const submittedAtMs = nowMs - 60_000 - index * apartMs;
    const startedAtMs = submittedAtMs + 2000;
    const ranMs = (row.finishedAtMs ?? nowMs) - (row.startedAtMs ?? row.submittedAtMs);
    const jobName = `${row.name.replace(/-[0-9a-f]{4}$/, '')}-${String(index).padStart(4, '0')}`;
    const state = isTerminalJobState(row.state) && row.startedAtMs !== null ? row.state : 'SUCCEEDED';
    return {
      ...row,
      id: `/${row.user}/${jobName}`,
      rootId: `/${row.user}/${jobName}`,
      name: jobName,
      state,
      submittedAtMs,
      startedAtMs,
      finishedAtMs: Math.min(nowMs - 1000, startedAtMs + Math.max(1000, ranMs)),
      taskCounts: state === row.state ? row.taskCounts : { [state]: row.numTasks },
      exitCode: state === 'SUCCEEDED' ? 0 : row.exitCode,
      waiting: null,
      childCount: 0,
    };
  });
}

export function fillHome(home: Home, count: number, nowMs: number): void {
  prepareHome(home);
  const store = openStore({ path: home.database, nowMs: () => nowMs, log: silent, appVersion });
  try {
    const rows = endedJobs(count, nowMs);
    // Made as they are committed: the histories of all of them at once would fill the memory of the measuring process.
    for (let at = 0; at < rows.length; at += jobsACommit)
      store.commit(together(rows.slice(at, at + jobsACommit).map(historyOf)));
    store.checkpoint();
  } finally {
    store.close();
  }
}

function historyOf(row: JobSummary): ChangeSet {
  const ended = { startedAtMs: row.startedAtMs, finishedAtMs: row.finishedAtMs, exitCode: row.exitCode };
  const job = makeJob(row.id, {
    ...ended,
    state: row.state,
    cause: row.cause,
    submittedAtMs: row.submittedAtMs,
    numTasks: row.numTasks,
    spec: makeSpec({ command: row.commandLine.split(' '), replicas: row.numTasks, workingDirectory: '/tmp' }),
  });
  const state = row.state === 'SUCCEEDED' || row.state === 'KILLED' ? row.state : 'FAILED';
  const tasks = Array.from({ length: row.numTasks }, (_, index) =>
    makeTask(job, index, {
      ...ended,
      state,
      final: true,
      currentAttempt: 0,
      cause: state === 'SUCCEEDED' ? null : row.cause,
    }),
  );
  const attempts = tasks.map((task) =>
    makeAttempt(task, 0, { ...ended, state, createdAtMs: row.submittedAtMs, cause: task.cause }),
  );
  return changes({ jobs: [job], tasks, attempts });
}

export interface ChangingHost {
  /** Changes so many rows a second, half of them around the line that is in view, until told to stop; says how many a second it were. */
  change(aSecond: number, lineInView: () => number): { stop(): number };
  /** Gives the row at a line another command and tells of it. */
  mark(line: number, command: string): void;
  close(): Promise<void>;
}

/** As often as a controller tells of jobs at most, and of what the status bar shows besides. */
const batchMs = 100;
const batchesAnOverview = 5;

/** A host that owns the folder's socket, and to which the window therefore attaches. */
export async function openChangingHost(home: Home, count: number): Promise<ChangingHost> {
  prepareHome(home);
  const rows = endedJobs(count, Date.now());
  const host = new FakeHost({ jobs: rows, status: { appVersion, contractVersion, home: home.root } });
  const server = await listenOnSocket(home.socket, (transport) => {
    const connection = host.bridge.connect(
      (text) => {
        const frame = readHostFrame(JSON.parse(text));
        if (frame === null) throw new Error(`No frame of a host: ${text.slice(0, 200)}`);
        transport.send(frame);
      },
      () => transport.close(),
    );
    return {
      receive(input) {
        const frame = clientFrameSchema.parse(input);
        const page = frame.kind === 'call' && frame.method === 'job.list' ? pageOf(frame.params) : null;
        if (page === null) connection.send(frame);
        else transport.send({ kind: 'result', id: frame.id, value: page });
      },
      close: () => connection.close(),
    };
  });

  /**
   * The unnarrowed list and the jobs that run, newest first, as the database answers from its indexes: looking through all for each
   * answer would hold up the changes and the wheel (45 ms a second of 100,000, for what the tray asks).
   */
  function pageOf(params: unknown): MethodResult<'job.list'> | null {
    const asked = methods['job.list'].params.safeParse(params).data;
    if (asked === undefined || asked.sort.key !== 'submitted' || !asked.sort.descending) return null;
    const { rootsOnly, states, ...narrowed } = asked.filter;
    if (!rootsOnly || Object.keys(narrowed).length > 0) return null;
    const page = <Row>(all: readonly Row[]) => all.slice(asked.offset, asked.offset + asked.limit);
    if (states === undefined)
      return { total: rows.length, rows: page(rows).map((row) => host.jobs.get(row.id) ?? row) };
    if (states.join() !== 'RUNNING') return null;
    const newest = [...running.values()].sort((a, b) => b.submittedAtMs - a.submittedAtMs);
    return { total: newest.length, rows: page(newest) };
  }

  const overview = overviewOf(host);
  /** The jobs that run, those changed last at the end. */
  const running = new Map<string, JobSummary>();
  function publishOverview(): void {
    const latest = [...running.values()].slice(-20);
    host.tell('overview', () => ({ ...overview, counts: host.counts(), running: latest }));
  }

  let made = 0;
  function changeRow(line: number): void {
    const row = rows[((line % rows.length) + rows.length) % rows.length];
    if (row === undefined) return;
    made += 1;
    const again = host.jobs.get(row.id)?.state !== 'RUNNING';
    host.change(row.id, {
      state: again ? 'RUNNING' : row.state,
      finishedAtMs: again ? null : row.finishedAtMs,
      taskCounts: again ? { RUNNING: row.numTasks } : row.taskCounts,
      failureCount: made % 5,
    });
    running.delete(row.id);
    const changed = host.jobs.get(row.id);
    if (again && changed !== undefined) running.set(row.id, changed);
  }

  return {
    change(aSecond, lineInView) {
      const before = made;
      const began = performance.now();
      let batches = 0;
      const timer = setInterval(() => {
        // By the clock: a late timer makes up for what it missed.
        const due = Math.floor(((performance.now() - began) / 1000) * aSecond) - (made - before);
        const line = lineInView();
        for (let index = 0; index < due; index += 1)
          changeRow(index % 2 === 0 ? line + (index % 30) : made * 7919);
        host.publishJobs();
        batches += 1;
        if (batches % batchesAnOverview === 0) publishOverview();
      }, batchMs);
      return {
        stop() {
          clearInterval(timer);
          return ((made - before) / (performance.now() - began)) * 1000;
        },
      };
    },
    mark(line, command) {
      const row = rows[line];
      if (row === undefined) throw new Error(`There is no line ${line}.`);
      host.change(row.id, { commandLine: command });
      host.publishJobs();
    },
    async close() {
      host.disconnect();
      await server.close();
    },
  };
}
