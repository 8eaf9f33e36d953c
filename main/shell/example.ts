/** `--example`: submits the example job and shows it; without a person in front of the screen also reports its end and leaves. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WebContents } from 'electron';
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import { yamlToRequest } from '../../core/contract/job-yaml.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import type { JobSummary, TaskView } from '../../core/contract/views.js';
import type { ShellClient } from './shell-client.js';

const tailLines = 20;
const tailBytes = 64 * 1024;

export interface ExampleOptions {
  readonly client: Pick<ShellClient, 'call' | 'subscribe' | 'onState'>;
  readonly examplesFolder: string;
  readonly openJob: (jobId: string) => void;
  /** Nobody sits in front of it: report and leave. */
  readonly unattended: boolean;
  readonly contents: () => WebContents | undefined;
  /** Where the picture of the window goes. */
  readonly picture: string;
}

/** The exit code to leave with, or null to stay. */
export async function runExample(options: ExampleOptions): Promise<number | null> {
  try {
    const jobId = await submitExample(options);
    if (!options.unattended) return null;
    const exitCode = await reportExample(options, jobId);
    const contents = options.contents();
    if (contents !== undefined) {
      await saveScreenshot(contents, options.picture);
      print(`Screenshot: ${options.picture}`);
    }
    return exitCode;
  } catch (error) {
    process.stderr.write(`The example failed: ${error instanceof Error ? error.message : String(error)}\n`);
    return options.unattended ? 1 : null;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Waits for the controller, submits, opens the job's page. */
async function submitExample(options: ExampleOptions): Promise<string> {
  await connected(options.client);
  const file = join(options.examplesFolder, 'train.yaml');
  const request = yamlToRequest(await readFile(file, 'utf8'), { draft: true });
  if (!request.ok) throw new Error(`${file}: ${request.refusal.message}`);
  const { jobId } = await options.client.call('job.submit', {
    requestId: randomUUID(),
    request: { ...request.value, workingDirectory: options.examplesFolder },
  });
  print(`Submitted ${jobId}.`);
  options.openJob(jobId);
  return jobId;
}

/** Waits for the job's end and prints how it ended and the end of its log. Resolves with the exit code to leave with. */
async function reportExample(options: ExampleOptions, jobId: string): Promise<number> {
  const { summary, tasks } = await ended(options.client, jobId);
  const cause = summary.cause === null ? '' : `: ${summary.cause.message}`;
  print(`${jobId} ${summary.state}${cause}`);
  const attempt = tasks[0]?.attempts.at(-1);
  if (attempt !== undefined) {
    const lines = await logTail(options.client, attempt.uid);
    print(`Last ${lines.length} lines of its log:`);
    for (const line of lines) print(`  ${line}`);
  }
  return summary.exitCode ?? (summary.state === 'SUCCEEDED' ? 0 : 1);
}

/** In the page: resolves once the log is whole and drawn, or after five seconds without that. */
const logIsDrawn = `new Promise((done) => {
  const whole = () => document.querySelector('[data-complete="true"]') !== null;
  const settle = () => { watch.disconnect(); setTimeout(() => requestAnimationFrame(() => done(undefined)), 300); };
  const watch = new MutationObserver(() => { if (whole()) settle(); });
  watch.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-complete'] });
  setTimeout(settle, 5000);
  if (whole()) settle();
})`;

async function saveScreenshot(contents: WebContents, path: string): Promise<void> {
  await contents.executeJavaScript(logIsDrawn);
  const image = await contents.capturePage();
  if (image.isEmpty()) throw new Error('The window gave an empty picture.');
  await writeFile(path, image.toPNG(), { mode: 0o600 });
}

function connected(client: Pick<ShellClient, 'onState'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = { leave: (): void => undefined };
    settled.leave = client.onState((problem) => {
      if (problem !== null && !isFinal(problem)) return;
      // The listener may be called before onState has returned.
      queueMicrotask(() => settled.leave());
      if (problem === null) resolve();
      else reject(new RefusalError(problem));
    });
  });
}

function isFinal(problem: Refusal): boolean {
  return problem.code !== 'UNAVAILABLE' && problem.code !== 'DISCONNECTED' && problem.code !== 'FOLDER_OWNED';
}

function ended(
  client: Pick<ShellClient, 'subscribe'>,
  jobId: string,
): Promise<{ readonly summary: JobSummary; readonly tasks: readonly TaskView[] }> {
  return new Promise((resolve) => {
    const tasks = new Map<string, TaskView>();
    let done = false;
    const look = (value: { readonly summary: JobSummary; readonly tasks: readonly TaskView[] }) => {
      for (const task of value.tasks) tasks.set(task.id, task);
      if (done || !isTerminalJobState(value.summary.state)) return;
      done = true;
      queueMicrotask(() => leave());
      resolve({
        summary: value.summary,
        tasks: [...tasks.values()].sort((left, right) => left.index - right.index),
      });
    };
    const leave = client.subscribe('job', { jobId }, look, look);
  });
}

/** The last lines as a terminal would leave them: what a carriage return overwrote is not shown. */
async function logTail(client: Pick<ShellClient, 'call'>, attemptUid: string): Promise<readonly string[]> {
  const { chunks } = await client.call('log.merged', {
    attemptUid,
    cursor: null,
    tail: true,
    maxBytes: tailBytes,
  });
  const text = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk.dataBase64, 'base64'))).toString('utf8');
  const lines = text.split('\n').map((line) => lastDrawn(line).replace(/[\0-\x08\x0b-\x1f\x7f]/g, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines.slice(-tailLines);
}

function lastDrawn(line: string): string {
  const parts = line.split('\r').filter((part) => part !== '');
  return parts.at(-1) ?? '';
}
