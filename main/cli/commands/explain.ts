/** `job explain` and `job run --dry-run`: why a job waits or would, what would help, and when it may start. */
import { demotionText } from '../../../core/contract/demotion-text.js';
import type { DryRun, Explanation } from '../../../core/contract/explanation.js';
import { RefusalError, refusal, type FieldError } from '../../../core/contract/errors.js';
import { stateClause } from '../../../core/contract/state-words.js';
import type { JobSummary } from '../../../core/contract/views.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { printable } from '../format.js';
import type { RunRequest } from '../run-request.js';
import { getJob } from '../targets.js';

export async function explainCommand(context: Context, idOrName: string): Promise<number> {
  const { summary } = await getJob(context.link, idOrName);
  const answer = await context.link.persist((connection) =>
    connection.call('job.explain', { jobId: summary.id }),
  );
  if (context.output.json) await context.output.value(answer.explanation);
  else if (answer.explanation === null) await context.output.text(notWaitingText(summary));
  else await context.output.text(explanationText(answer.explanation));
  return exitCodes.ok;
}

export async function dryRunCommand(context: Context, run: RunRequest): Promise<number> {
  const checked = await context.link.persist((connection) =>
    connection.call('job.check', { request: run.request }),
  );
  const { dryRun, fields, message, verdict } = checked;
  if (verdict === 'INVALID') throw new RefusalError(refusal('INVALID_ARGUMENT', message, fields));
  if (verdict === 'NEVER') throw new RefusalError(refusal('INFEASIBLE', message, fields));
  if (context.output.json) await context.output.value({ verdict, message, fields, dryRun });
  else await context.output.text(dryRunText(dryRun, message, fields));
  return exitCodes.ok;
}

function notWaitingText({ id, state, demoted }: JobSummary): string {
  // Asked for its state first: one that waited then is being started by now.
  const lines = [`${id} does not wait: ${stateClause[state === 'PENDING' ? 'ASSIGNED' : state]}.`];
  if (demoted !== undefined) lines.push(demotionText(demoted, true));
  return linesText(lines);
}

function explanationText(explanation: Explanation): string {
  const { jobId, waiting, message, remedies, expected } = explanation;
  const lines = [`${jobId}: ${waiting === 1 ? 'a task waits' : `${waiting} tasks wait`}.`, message];
  if (remedies.length > 0) lines.push('', 'It would start with one of these:');
  for (const remedy of remedies) lines.push(`  - ${remedy.text}`);
  if (expected !== null) {
    lines.push('', expected.text);
    for (const assumption of expected.assumptions) lines.push(`  - ${assumption.text}`);
  }
  return linesText(lines);
}

/** `fields`: what is noticed of a job that would start all the same, as that its working folder is not there (yet). */
function dryRunText(dryRun: DryRun | null, message: string, fields: readonly FieldError[]): string {
  const lines = [message];
  for (const { field, value, expected } of fields)
    lines.push(`${field === 'workingDirectory' ? 'Working folder' : field} ${value}: expected ${expected}.`);
  if (dryRun === null) return linesText(lines);
  if (dryRun.demoted !== null) lines.push(dryRun.demoted.text);
  for (const { index, workerId, devices, provisional } of dryRun.places) {
    const cards = devices.length === 0 ? '' : ` with ${devices.join(', ')}`;
    lines.push(
      `  task ${index} on ${workerId}${cards}${provisional ? ', after what is there has left' : ''}`,
    );
  }
  for (const { taskId, band, workerId } of dryRun.evicts)
    lines.push(`  would evict ${taskId} (${band}) from ${workerId}`);
  for (const remedy of dryRun.explanation?.remedies ?? []) lines.push(`  - ${remedy.text}`);
  const expected = dryRun.explanation?.expected ?? null;
  if (expected !== null) lines.push(expected.text);
  lines.push('Nothing was submitted.');
  return linesText(lines);
}

const linesText = (lines: readonly string[]): string => `${lines.map(printable).join('\n')}\n`;
