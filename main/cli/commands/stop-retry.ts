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
  const results = await each(context, named, options, 'job.stop');
  if (options.wait === true) {
    for (const result of results) {
      if (result.refusal === null) await watchJob(context.link, result.id, isSettled);
    }
  }
  return await reportTargets(
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
  const results = await each(context, named, options, 'job.retry');
  return await reportTargets(context, results, (result) => result.newId ?? result.id);
}

async function each(
  context: Context,
  named: readonly string[],
  options: TargetOptions,
  method: 'job.stop' | 'job.retry',
): Promise<Results> {
  const ids = await resolveTargets(context, named, options.stdin === true);
  return await inBatches(ids, (jobIds) => {
    // One id for all tries of a batch.
    const requestId = randomUUID();
    return context.link.persist((connection) => connection.call(method, { requestId, jobIds: [...jobIds] }));
  });
}

export async function inBatches(
  ids: readonly string[],
  send: (jobIds: readonly string[]) => Promise<{ readonly results: Results }>,
): Promise<Results> {
  const results: Results = [];
  for (let at = 0; at < ids.length; at += batch)
    results.push(...(await send(ids.slice(at, at + batch))).results);
  return results;
}

export async function reportTargets(
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
