/**
 * Writing one change set. A row is updated by its key and inserted when there was none, the likelier of the two first; an update
 * touches only what can change after the insert, so a job's specification is written once. Fixed after the insert: a job's
 * identity, place in its tree, name, submission, task count and specification; a task's submission and insertion number; what an
 * attempt was allotted.
 */
import type { Attempt, ChangeSet, Job, Machine, Task } from '../../core/model/entities.js';
import { commandLineOf } from '../../core/model/summary.js';
import { bandNumber, stateNumbers } from './codes.js';
import type { Connection } from './connection.js';
import type { CommitResult } from './types.js';

export function createWriter(connection: Connection): (changes: ChangeSet) => CommitResult {
  const jobUpdate = connection.prepare(
    'update job',
    `UPDATE jobs SET state = ?, band = ?, started_at_ms = ?, finished_at_ms = ?, scheduling_deadline_ms = ?, cause_code = ?,
       cause_message = ?, exit_code = ?, held = ?, own_rank = ? WHERE id = ?`,
  );
  // Without the time of its end: naming that column would have its index written at each step of a job.
  const jobProgress = connection.prepare(
    'update job that goes on',
    `UPDATE jobs SET state = ?, band = ?, started_at_ms = ?, scheduling_deadline_ms = ?, cause_code = ?, cause_message = ?,
       exit_code = ?, held = ?, own_rank = ? WHERE id = ? AND finished_at_ms IS NULL`,
  );
  const jobInsert = connection.prepare(
    'insert job',
    `INSERT INTO jobs(state, band, started_at_ms, finished_at_ms, scheduling_deadline_ms, cause_code, cause_message, exit_code,
       held, own_rank, id, user, submitted_by, parent_id, root_id, depth, name, name_key, submitted_at_ms, root_submitted_at_ms, num_tasks,
       retry_of, gpu_count, command_line, search_text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(id) DO NOTHING`,
  );
  const configInsert = connection.prepare(
    'insert job_config',
    'INSERT INTO job_config(job_seq, spec) VALUES (?, ?)',
  );
  const taskUpdate = connection.prepare(
    'update task',
    `UPDATE tasks SET state = ?, final = ?, band = ?, started_at_ms = ?, finished_at_ms = ?, exit_code = ?, cause_code = ?,
       cause_message = ?, waiting_code = ?, waiting_message = ?, current_attempt = ?, failure_count = ?, preemption_count = ?,
       claim = ? WHERE job_id = ? AND task_index = ?`,
  );
  const taskInsert = connection.prepare(
    'insert task',
    `INSERT INTO tasks(state, final, band, started_at_ms, finished_at_ms, exit_code, cause_code, cause_message, waiting_code,
       waiting_message, current_attempt, failure_count, preemption_count, claim, job_id, task_index, submitted_at_ms, insertion)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(job_id, task_index) DO NOTHING`,
  );
  const attemptUpdate = connection.prepare(
    'update attempt',
    `UPDATE attempts SET state = ?, started_at_ms = ?, finished_at_ms = ?, duration_ms = ?, exit_code = ?, signal = ?,
       cause_code = ?, cause_message = ?, peak_memory_bytes = ?, pid = ?, warnings = ?, checkpoint_at_ms = ?, notice_at_ms = ?,
       usage = ?
     WHERE job_id = ? AND task_index = ? AND number = ? AND uid = ?`,
  );
  const attemptInsert = connection.prepare(
    'insert attempt',
    `INSERT INTO attempts(state, started_at_ms, finished_at_ms, duration_ms, exit_code, signal, cause_code, cause_message,
       peak_memory_bytes, pid, warnings, checkpoint_at_ms, notice_at_ms, usage, job_id, task_index, number, uid, backend_id,
       worker_id, created_at_ms, devices, cpu_millicores, memory_bytes, ports, evictable_by, demoted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(job_id, task_index, number) DO NOTHING`,
  );
  const budgetSet = connection.prepare(
    'set budget',
    `INSERT INTO user_budgets(user_id, budget_limit, max_band, allowed_bands, quota, updated_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT(user_id) DO UPDATE SET budget_limit = excluded.budget_limit, max_band = excluded.max_band,
       allowed_bands = excluded.allowed_bands, quota = excluded.quota, updated_at_ms = excluded.updated_at_ms`,
  );
  const useSet = connection.prepare(
    'set use',
    `INSERT INTO user_uses(user_id, gpus, memory, processors, faded_gpus, faded_memory, faded_processors)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(user_id) DO UPDATE SET gpus = excluded.gpus, memory = excluded.memory, processors = excluded.processors,
       faded_gpus = excluded.faded_gpus, faded_memory = excluded.faded_memory, faded_processors = excluded.faded_processors`,
  );
  const machineSet = connection.prepare(
    'set machine',
    `INSERT INTO machines(id, address, identity, scheduling, drain_deadline_ms, attributes, taints, wake_address, added_at_ms, added_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(id) DO UPDATE SET address = excluded.address, identity = excluded.identity, scheduling = excluded.scheduling,
       drain_deadline_ms = excluded.drain_deadline_ms, attributes = excluded.attributes, taints = excluded.taints,
       wake_address = excluded.wake_address, added_at_ms = excluded.added_at_ms, added_by = excluded.added_by`,
  );
  const machineDelete = connection.prepare('delete machine', 'DELETE FROM machines WHERE id = ?');
  const auditInsert = connection.prepare(
    'insert audit',
    'INSERT INTO audit(at_ms, actor, action, entity, detail) VALUES (?, ?, ?, ?, ?)',
  );
  const inboxInsert = connection.prepare(
    'insert inbox',
    `INSERT INTO inbox(job_id, job_name, state, cause_code, cause_message, at_ms, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  // The first answer stays, whatever a repeat brings.
  const receiptInsert = connection.prepare(
    'insert receipt',
    'INSERT INTO receipts(request_id, at_ms, answer) VALUES (?, ?, ?) ON CONFLICT(request_id) DO NOTHING',
  );
  const metaSet = connection.prepare(
    'set meta',
    'INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value',
  );

  function writeJob(job: Job): void {
    const before = [stateNumbers[job.state], bandNumber(job.band), job.startedAtMs];
    const after = [
      job.schedulingDeadlineMs,
      job.cause?.code ?? null,
      job.cause?.message ?? null,
      job.exitCode,
      job.held ? 1 : 0,
      job.rank,
      job.id,
    ];
    const changing = [...before, job.finishedAtMs, ...after];
    const insert = (): boolean => {
      const commandLine = commandLineOf(job.spec.command);
      const inserted = jobInsert.run(
        ...changing,
        job.user,
        job.submittedBy,
        job.parentId,
        job.rootId,
        job.depth,
        job.name,
        job.name.toLowerCase(),
        job.submittedAtMs,
        job.rootSubmittedAtMs,
        job.numTasks,
        job.retryOf,
        job.spec.gpuCount * job.numTasks,
        commandLine,
        `${job.id}\n${commandLine}`.toLowerCase(),
      );
      if (inserted.changes === 0) return false;
      configInsert.run(inserted.lastId, JSON.stringify(job.spec));
      return true;
    };
    const update = (): boolean => {
      if (job.finishedAtMs === null && jobProgress.run(...before, ...after).changes > 0) return true;
      return jobUpdate.run(...changing).changes > 0;
    };
    const likelyNew = job.state === 'PENDING' && job.startedAtMs === null;
    if (!(likelyNew ? insert() || update() : update() || insert())) throw notWritten('job', job.id);
  }

  function writeTask(task: Task): void {
    if (task.id !== `${task.jobId}/${task.index}`) {
      throw new Error(`task ${task.id} is not ${task.jobId}/${task.index}`);
    }
    const changing = [
      stateNumbers[task.state],
      task.final ? 1 : 0,
      bandNumber(task.band),
      task.startedAtMs,
      task.finishedAtMs,
      task.exitCode,
      task.cause?.code ?? null,
      task.cause?.message ?? null,
      task.waiting?.code ?? null,
      task.waiting?.message ?? null,
      task.currentAttempt,
      task.failureCount,
      task.preemptionCount,
      task.claim === null ? null : JSON.stringify(task.claim),
      task.jobId,
      task.index,
    ];
    const insert = (): boolean => taskInsert.run(...changing, task.submittedAtMs, task.insertion).changes > 0;
    const update = (): boolean => taskUpdate.run(...changing).changes > 0;
    const likelyNew = task.currentAttempt < 0;
    if (!(likelyNew ? insert() || update() : update() || insert())) throw notWritten('task', task.id);
  }

  function writeAttempt(attempt: Attempt): void {
    const index = Number(attempt.taskId.slice(attempt.jobId.length + 1));
    if (!Number.isSafeInteger(index) || attempt.taskId !== `${attempt.jobId}/${index}`) {
      throw new Error(
        `attempt ${attempt.uid} names task ${attempt.taskId}, which is none of job ${attempt.jobId}`,
      );
    }
    const changing = [
      stateNumbers[attempt.state],
      attempt.startedAtMs,
      attempt.finishedAtMs,
      attempt.durationMs,
      attempt.exitCode,
      attempt.signal,
      attempt.cause?.code ?? null,
      attempt.cause?.message ?? null,
      attempt.peakMemoryBytes,
      attempt.pid,
      attempt.warnings.length === 0 ? null : JSON.stringify(attempt.warnings),
      attempt.checkpointAtMs,
      attempt.noticeAtMs,
      attempt.usage === undefined ? null : JSON.stringify(attempt.usage),
      attempt.jobId,
      index,
      attempt.number,
      attempt.uid,
    ];
    const insert = (): boolean =>
      attemptInsert.run(
        ...changing,
        attempt.backendId,
        attempt.workerId,
        attempt.createdAtMs,
        attempt.devices.length === 0 ? null : JSON.stringify(attempt.devices),
        attempt.cpuMillicores,
        attempt.memoryBytes,
        recordText(attempt.ports),
        attempt.evictableBy,
        attempt.demoted === undefined ? null : JSON.stringify(attempt.demoted),
      ).changes > 0;
    const update = (): boolean => attemptUpdate.run(...changing).changes > 0;
    const likelyNew = attempt.startedAtMs === null && attempt.finishedAtMs === null;
    if (!(likelyNew ? insert() || update() : update() || insert())) throw notWritten('attempt', attempt.uid);
  }

  function writeMachine(machine: Machine): void {
    machineSet.run(
      machine.id,
      machine.address,
      machine.identity,
      machine.scheduling,
      machine.drainDeadlineMs,
      recordText(machine.attributes),
      machine.taints.length === 0 ? null : JSON.stringify(machine.taints),
      machine.wakeAddress,
      machine.addedAtMs,
      machine.addedBy,
    );
  }

  return (changes) => {
    // An idle round opens no transaction.
    if (isEmpty(changes)) return { inboxIds: [] };

    const inboxIds = connection.write('Saving', () => {
      for (const job of changes.jobs) writeJob(job);
      for (const task of changes.tasks) writeTask(task);
      for (const attempt of changes.attempts) writeAttempt(attempt);
      for (const { user, limit, maxBand, allow, quota, updatedAtMs } of changes.budgets) {
        const stored = limit === 'default' ? null : limit === 'unlimited' ? 0 : limit;
        const rights = allow.length === 0 ? null : JSON.stringify(allow);
        const bounds = Object.values(quota).every((bound) => bound === null) ? null : JSON.stringify(quota);
        budgetSet.run(user, stored, bandNumber(maxBand), rights, bounds, updatedAtMs);
      }
      for (const { user, used, faded } of changes.uses) {
        const parts = [used, faded].flatMap(({ gpus, memory, processors }) => [gpus, memory, processors]);
        useSet.run(user, ...parts);
      }
      for (const { id, machine } of changes.machines) {
        if (machine === null) machineDelete.run(id);
        else writeMachine(machine);
      }
      for (const entry of changes.audit) {
        auditInsert.run(entry.atMs, entry.actor, entry.action, entry.entity, recordText(entry.detail));
      }
      const ids = changes.inbox.map(
        (item) =>
          inboxInsert.run(
            item.jobId,
            item.jobName,
            stateNumbers[item.state],
            item.cause?.code ?? null,
            item.cause?.message ?? null,
            item.atMs,
            item.durationMs,
          ).lastId,
      );
      for (const receipt of changes.receipts) {
        receiptInsert.run(receipt.requestId, receipt.atMs, JSON.stringify(receipt.answer ?? null));
      }
      for (const [key, value] of Object.entries(changes.meta)) metaSet.run(key, value);
      return ids;
    });

    return { inboxIds };
  };
}

function isEmpty(changes: ChangeSet): boolean {
  const lists = [
    changes.jobs,
    changes.tasks,
    changes.attempts,
    changes.budgets,
    changes.uses,
    changes.machines,
    changes.audit,
    changes.inbox,
    changes.receipts,
  ];
  return lists.every((list) => list.length === 0) && Object.keys(changes.meta).length === 0;
}

/** Its key is taken by another: nothing of the round may be kept. */
function notWritten(what: string, id: string): Error {
  return new Error(`The ${what} ${id} could be neither inserted nor updated`);
}

/** JSON, or null for what holds nothing, as most do. */
function recordText(record: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(record).length === 0 ? null : JSON.stringify(record);
}
