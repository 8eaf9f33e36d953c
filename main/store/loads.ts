/** What the controller reads: whole trees as its own records. */
import type { JobState } from '../../core/contract/states.js';
import type { Job } from '../../core/model/entities.js';
import { jobStateOf } from './codes.js';
import type { Connection } from './connection.js';
import { createCounter } from './counts.js';
import {
  attemptOf,
  budgetOf,
  jobOf,
  machineOf,
  taskOf,
  useOf,
  type AttemptRow,
  type BudgetRow,
  type JobRow,
  type MachineRow,
  type TaskRow,
  type UseRow,
} from './rows.js';
import type { LiveState, Receipt, TreeState } from './types.js';

/** How long answers to commands are kept in the controller's memory. */
const receiptAgeMs = 3_600_000;

export interface Loader {
  live(nowMs: number): LiveState;
  tree(rootId: string): TreeState | null;
  job(jobId: string): { readonly state: JobState; readonly rootId: string } | null;
  receipt(requestId: string): Receipt | null;
  jobById(jobId: string): Job | null;
  latestNamed(user: string, parentId: string | null, name: string): Job | null;
}

interface ReceiptRow {
  readonly request_id: string;
  readonly at_ms: number;
  readonly answer: string;
}

function receiptOf(row: ReceiptRow): Receipt {
  return { requestId: row.request_id, atMs: row.at_ms, answer: JSON.parse(row.answer) as unknown };
}

/**
 * `roots` gives the ids of the trees to read, as a table with the column `root`. Joined in the order written (CROSS JOIN is that to
 * SQLite): it takes any list for long, and would rather look through all jobs, tasks and attempts there are.
 */
function treeQueries(connection: Connection, label: string, roots: string) {
  const prefix = `WITH roots(root) AS (${roots})`;
  return {
    jobs: connection.prepare<JobRow>(
      `${label}: jobs`,
      `${prefix} SELECT j.*, c.spec FROM roots CROSS JOIN jobs j ON j.root_id = root CROSS JOIN job_config c ON c.job_seq = j.seq
       ORDER BY j.depth, j.submitted_at_ms, j.seq`,
    ),
    tasks: connection.prepare<TaskRow>(
      `${label}: tasks`,
      `${prefix} SELECT t.* FROM roots CROSS JOIN jobs j ON j.root_id = root CROSS JOIN tasks t ON t.job_id = j.id
       ORDER BY t.job_id, t.task_index`,
    ),
    attempts: connection.prepare<AttemptRow>(
      `${label}: attempts`,
      `${prefix} SELECT a.* FROM roots CROSS JOIN jobs j ON j.root_id = root CROSS JOIN attempts a ON a.job_id = j.id
       ORDER BY a.job_id, a.task_index, a.number`,
    ),
  };
}

export function createLoader(connection: Connection): Loader {
  // Any job that is not over keeps its tree, the root's own state does not matter: children may outlive their parent.
  const liveTrees = treeQueries(
    connection,
    'load live',
    `SELECT root_id FROM jobs WHERE state IN (1, 3)
     UNION SELECT j.root_id FROM attempts a JOIN jobs j ON j.id = a.job_id WHERE a.finished_at_ms IS NULL`,
  );
  const oneTree = treeQueries(connection, 'load tree', 'SELECT ?');
  const receipts = connection.prepare<ReceiptRow>(
    'load receipts',
    'SELECT request_id, at_ms, answer FROM receipts WHERE at_ms >= ? ORDER BY at_ms',
  );
  const oneReceipt = connection.prepare<ReceiptRow>(
    'find receipt',
    'SELECT request_id, at_ms, answer FROM receipts WHERE request_id = ?',
  );
  const budgets = connection.prepare<BudgetRow>('load budgets', 'SELECT * FROM user_budgets');
  const uses = connection.prepare<UseRow>('load uses', 'SELECT * FROM user_uses ORDER BY user_id');
  const machines = connection.prepare<MachineRow>('load machines', 'SELECT * FROM machines ORDER BY id');
  const meta = connection.prepare<{ key: string; value: number }>('load meta', 'SELECT key, value FROM meta');
  const job = connection.prepare<{ state: number; root_id: string }>(
    'find job',
    'SELECT state, root_id FROM jobs WHERE id = ?',
  );
  // In two steps: most of the time there is none, as a generated name is asked for before it is taken, and the first step reads the
  // index alone. As one statement with a join SQLite prepares it anew for each id.
  const seqOf = connection.prepare<{ seq: number }>('number of a job', 'SELECT seq FROM jobs WHERE id = ?');
  const jobBySeq = connection.prepare<JobRow>(
    'job by number',
    'SELECT j.*, c.spec FROM jobs j JOIN job_config c ON c.job_seq = j.seq WHERE j.seq = ?',
  );
  const latestNamed = connection.prepare<JobRow>(
    'latest job of a name',
    // By the name, of which there are few, not by the user, of whom there may be all.
    `SELECT j.*, c.spec FROM jobs j JOIN job_config c ON c.job_seq = j.seq
     WHERE j.name_key = ? AND +j.user = ? AND +j.parent_id IS ? ORDER BY j.submitted_at_ms DESC, j.seq DESC LIMIT 1`,
  );
  const count = createCounter(connection);

  function treeState(queries: ReturnType<typeof treeQueries>, ...roots: string[]): TreeState {
    return {
      jobs: queries.jobs.all(...roots).map(jobOf),
      tasks: queries.tasks.all(...roots).map(taskOf),
      attempts: queries.attempts.all(...roots).map(attemptOf),
    };
  }

  return {
    live: (nowMs) =>
      connection.read('Loading the live jobs', () => ({
        ...treeState(liveTrees),
        budgets: budgets.all().map(budgetOf),
        uses: uses.all().map(useOf),
        machines: machines.all().map((row) => ({ id: row.id, machine: machineOf(row) })),
        receipts: receipts.all(nowMs - receiptAgeMs).map(receiptOf),
        meta: Object.fromEntries(meta.all().map((row) => [row.key, row.value])),
        counts: count(nowMs),
      })),

    tree: (rootId) =>
      connection.read('Loading a tree of jobs', () => {
        const state = treeState(oneTree, rootId);
        return state.jobs.length === 0 ? null : state;
      }),

    job: (jobId) =>
      connection.guard('Finding a job', () => {
        const row = job.get(jobId);
        return row === undefined ? null : { state: jobStateOf(row.state), rootId: row.root_id };
      }),

    receipt: (requestId) =>
      connection.guard('Finding a receipt', () => {
        const row = oneReceipt.get(requestId);
        return row === undefined ? null : receiptOf(row);
      }),

    jobById: (jobId) =>
      connection.guard('Finding a job', () => {
        const found = seqOf.get(jobId);
        const row = found === undefined ? undefined : jobBySeq.get(found.seq);
        return row === undefined ? null : jobOf(row);
      }),

    latestNamed: (user, parentId, name) =>
      connection.guard('Finding a job by its name', () => {
        const row = latestNamed.get(name.toLowerCase(), user, parentId);
        return row === undefined ? null : jobOf(row);
      }),
  };
}
