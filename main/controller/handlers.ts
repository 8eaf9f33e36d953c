/** The contract's methods, answered from the controller's memory, the reader's thread and the backend. */
import type { BudgetView } from '../../core/contract/budgets.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import { parseJobRequest, type JobSpec } from '../../core/contract/job-request.js';
import { longestAnswer } from '../../core/contract/questions.js';
import type { QueueView } from '../../core/contract/queue.js';
import { toCommandLine } from '../../core/contract/job-text.js';
import type { MachineView } from '../../core/contract/machines.js';
import type { HostStatus, Overview } from '../../core/contract/views.js';
import { checkSubmittedBand } from '../../core/model/budgets.js';
import { checkContainerProfile } from '../../core/model/container-rights.js';
import type { Backend } from '../backends/backend.js';
import type { AsyncReads, AttemptRecord } from '../store/types.js';
import type { Controller } from './controller.js';
import { containerCardsWarning } from './container-cards.js';
import { currentJobs, currentTasks } from './current-rows.js';
import { judge, missingMessage } from './feasibility.js';
import { FolderLooks } from './folder-looks.js';
import { createLogHandlers } from './log-handlers.js';
import { createMachineHandlers } from './machine-handlers.js';
import { mayManage, type MachineService } from './machine-service.js';
import type { TargetResult } from './round.js';
import type { Handlers } from './session.js';

export interface HandlerParts {
  readonly controller: Controller;
  readonly reads: AsyncReads;
  readonly backend: Backend;
  readonly status: () => HostStatus;
  readonly machines: () => readonly MachineView[];
  readonly machineService: MachineService;
  /** Answers what SSH clients ask; false: it is not asked any more. */
  readonly desk: { answer(id: string, text: string | null, keep: boolean): boolean };
  readonly overview: () => Promise<Overview>;
  /** Of everybody with one or with any use, and of these users. */
  readonly budgets: (users: readonly string[]) => BudgetView[];
  readonly halfLifeMs: () => number | null;
  readonly queue: () => QueueView;
  /** Begins the orderly end of the host. */
  readonly stop: (reason: string) => void;
  /** Sentences to show with a submission. */
  readonly warnings: () => readonly string[];
}

export function createHandlers(parts: HandlerParts): Handlers {
  const { controller, reads, backend } = parts;
  const folders = new FolderLooks(backend);

  async function existingJob(idOrName: string, user: string): Promise<string> {
    const id = controller.views.has(idOrName) ? idOrName : await reads.resolveJob(idOrName, user);
    if (id === null) throw new RefusalError(refusal('NOT_FOUND', `There is no job ${idOrName}.`));
    return id;
  }

  async function attempt(uid: string): Promise<AttemptRecord> {
    const found = await reads.attemptByUid(uid);
    if (found === null) throw new RefusalError(refusal('NOT_FOUND', `There is no attempt ${uid}.`));
    return found;
  }

  function budgetOf(user: string): BudgetView {
    const found = parts.budgets([user]).find((budget) => budget.user === user);
    if (found === undefined) throw new Error(`no budget was made for ${user}`);
    return found;
  }

  function checked(request: unknown): JobSpec {
    const parsed = parseJobRequest(request);
    if (!parsed.ok) throw new RefusalError(parsed.refusal);
    return parsed.value;
  }

  return {
    ...createMachineHandlers(parts.machineService, backend),
    'question.answer'({ questionId, answer, keep }, identity) {
      mayManage(identity, 'answer what is asked on the way to machines');
      if (answer !== null && (answer.length > longestAnswer || /[\r\n\0]/.test(answer)))
        throw new RefusalError(
          refusal('INVALID_ARGUMENT', `An answer is one line of at most ${longestAnswer} characters.`),
        );
      if (!parts.desk.answer(questionId, answer, keep))
        throw new RefusalError(refusal('NOT_FOUND', 'This is not asked any more.'));
      return {};
    },
    hello: () => parts.status(),
    status: () => parts.status(),
    async 'job.submit'(params, identity) {
      const spec = checked(params.request);
      const answer = await controller.submit({
        spec,
        identity,
        requestId: params.requestId,
        retryOf: params.retryOf,
      });
      const machines = backend.observe();
      const { missingGpus } = judge(spec, machines);
      const cards = containerCardsWarning(spec, machines);
      return {
        ...answer,
        warnings: [
          ...parts.warnings(),
          ...(missingGpus === null ? [] : [missingMessage(missingGpus)]),
          ...(cards === null ? [] : [cards]),
        ],
      };
    },
    async 'job.check'(params, identity) {
      const parsed = parseJobRequest(params.request);
      if (!parsed.ok) {
        return {
          fields: parsed.refusal.fields,
          verdict: 'INVALID',
          message: parsed.refusal.message,
          commandLine: '',
          dryRun: null,
        };
      }
      const spec = parsed.value;
      const commandLine = toCommandLine(params.request).text;
      const parent = spec.parent === null ? undefined : controller.memory.findJob(spec.parent);
      const submission = { user: identity.user, submittedBy: identity.user };
      const band = checkSubmittedBand(controller.memory, spec, parent ?? null, submission);
      const profile = checkContainerProfile(spec, { ...identity, submittedBy: identity.user });
      const invalid = ({ fields, message }: Refusal) =>
        ({ fields, verdict: 'INVALID', message, commandLine, dryRun: null }) as const;
      if (!band.ok) return invalid(band.refusal);
      if (!profile.ok) return invalid(profile.refusal);
      const answer = controller.check(spec, { user: identity.user, band: band.value });
      const cards = containerCardsWarning(spec, backend.observe());
      const message = cards === null ? answer.message : `${answer.message} ${cards}`;
      const missing = answer.verdict === 'NEVER' ? [] : await folders.missing(spec, answer.dryRun);
      return { ...answer, fields: [...answer.fields, ...missing], message, commandLine };
    },
    async 'job.list'(params) {
      const page = await reads.jobList(params.filter, params.sort, params.offset, params.limit);
      return { total: page.total, rows: await currentJobs(page.rows, controller.views, reads) };
    },
    async 'job.children'(params) {
      const page = await reads.children(params.jobId, params.offset, params.limit);
      return { total: page.total, rows: await currentJobs(page.rows, controller.views, reads) };
    },
    async 'job.get'(params, identity) {
      const detail = await reads.jobDetail(await existingJob(params.jobId, identity.user));
      if (detail === null) throw new RefusalError(refusal('NOT_FOUND', `There is no job ${params.jobId}.`));
      const [summary = detail.summary] = await currentJobs([detail.summary], controller.views, reads);
      return { ...detail, summary };
    },
    async 'task.list'(params) {
      const read = () => reads.taskList(params.jobId, params.offset, params.limit);
      return await currentTasks(await read(), controller.views, read);
    },
    async 'job.stop'(params, identity) {
      return { results: await controller.stopJobs(params.jobIds, identity, params.requestId) };
    },
    async 'job.retry'(params, identity) {
      return { results: await controller.retryJobs(params.jobIds, identity, params.requestId) };
    },
    async 'job.change'(params, identity) {
      const { jobIds, change, requestId } = params;
      const results = await controller.enqueue({ kind: 'change', requestId, identity, jobIds, change });
      return { results: results as TargetResult[] };
    },
    async 'job.explain'(params, identity) {
      const id = await existingJob(params.jobId, identity.user);
      return { explanation: controller.explanations.explain(id) };
    },
    'queue.get': () => parts.queue(),
    async 'queue.history'(params) {
      return { items: [...(await reads.lanes(params.sinceMs, params.limit))] };
    },
    ...createLogHandlers(backend, attempt),
    'overview.get': () => parts.overview(),
    'machine.list': () => ({ machines: [...parts.machines()] }),
    'budget.list': (_params, identity) => ({
      me: identity.user,
      mayManage: identity.mayManage === true,
      halfLifeMs: parts.halfLifeMs(),
      budgets: parts.budgets([identity.user]),
    }),
    'budget.get': (params) => budgetOf(params.user),
    async 'budget.set'(params, identity) {
      await controller.setBudget(params.user, params.change, identity, params.requestId);
      return budgetOf(params.user);
    },
    async 'budget.halfLife'({ requestId, halfLifeMs }, identity) {
      await controller.enqueue({ kind: 'half-life', requestId, identity, halfLifeMs });
      return { halfLifeMs: parts.halfLifeMs() };
    },
    async 'audit.list'(params) {
      return {
        events: [...(await reads.audit(params.entity ?? null, params.beforeId ?? null, params.limit))],
      };
    },
    async 'inbox.list'(params) {
      const page = await reads.inbox(params.beforeId ?? null, params.limit);
      return { items: [...page.items], unread: page.unread };
    },
    'inbox.read': (params) => controller.markInboxRead(params.ids ?? null),
    async 'debug.record'(params, identity) {
      if (identity.mayManage !== true) {
        const reason = 'only who administers this cluster, the owner of its data folder, may record rounds.';
        throw new RefusalError(refusal('PERMISSION_DENIED', reason));
      }
      return { path: await controller.recorder.set(params.on) };
    },
    shutdown(params) {
      parts.stop(params.reason);
      return {};
    },
  };
}
