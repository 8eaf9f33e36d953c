/** `job stop` (alias `kill`) and `job retry`: one command about several jobs, each with its own answer. */
import { randomUUID } from 'node:crypto';
import type { MethodResult } from '../../../core/contract/api.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { isSettled, watchJob } from '../job-watch.js';
import { resolveTargets } from '../targets.js';

export interface TargetOptions {
  readonly stdin?: boolean;
  /** Return only when the last process is gone. */
  readonly wait?: boolean;
}

type Results = MethodResult<'job.stop'>['results'];

/** Most jobs the contract takes in one command. */
const batch = 10_000;

export async function stopCommand(
  context: Context,
  named: readonly string[],
  options: TargetOptions,
): Promise<number> {
  const results = await inBatches(context, named, options, 'job.stop');
  if (options.wait === true) {
    for (const result of results) {
      if (result.refusal === null) await watchJob(context.link, result.id, isSettled);
    }
  }
  return await report(
    context,
    results,
    (result) => `${options.wait === true ? 'stopped' : 'stopping'} ${result.id}`,
  );
}

export async function retryCommand(
  context: Context,
  named: readonly string[],
  options: TargetOptions,
): Promise<number> {
  const results = await inBatches(context, named, options, 'job.retry');
  return await report(context, results, (result) => result.newId ?? result.id);
}

async function inBatches(
  context: Context,
  named: readonly string[],
  options: TargetOptions,
  method: 'job.stop' | 'job.retry',
): Promise<Results> {
  const ids = await resolveTargets(context, named, options.stdin === true);
  const results: Results = [];
  for (let at = 0; at < ids.length; at += batch) {
    const requestId = randomUUID();
    const jobIds = ids.slice(at, at + batch);
    const answer = await context.link.persist((connection) => connection.call(method, { requestId, jobIds }));
    results.push(...answer.results);
  }
  return results;
}

async function report(
  context: Context,
  results: Results,
  line: (result: Results[number]) => string,
): Promise<number> {
  const { output } = context;
  for (const result of results) {
    if (result.refusal !== null) await output.note(`${result.id}: ${result.refusal.message}`);
    else if (!output.json) await output.text(`${line(result)}\n`);
  }
  if (output.json) await output.value(results);
  return results.some((result) => result.refusal !== null) ? exitCodes.refused : exitCodes.ok;
}
