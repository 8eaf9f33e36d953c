/** What a submission to a busy cluster takes, to the commit and the answer, in the controller's thread of Electron. */
import { limit, percentile, type BenchContext } from './harness.js';
import { runRoundApp } from './round-app.js';
import { noteLoad } from './window-app.js';

export const name = 'round';

export async function run(context: BenchContext): Promise<void> {
  noteLoad(context);
  const { result, longestBlockMs } = await runRoundApp(context.root);
  const { roundMs, roundCpuMs, commitMs, largeMs } = result;
  context.note(`standing load: ${result.standing}`);
  context.note(`${roundMs.length} submissions, right after: ${result.outcomes}`);
  context.note(
    `processor time of the process a submission: median ${percentile(roundCpuMs, 0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(roundCpuMs, 0.99).toFixed(1)} ms`,
  );
  context.note(`jobs of ${result.replicas} replicas: ${largeMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  const shown = (figure: string, value: number | undefined, atMost?: number) => {
    const measured = { name: figure, value: value ?? Number.NaN, unit: 'ms' };
    context.figure(limit(atMost === undefined ? measured : { ...measured, atMost }));
  };
  shown('submission to commit and answer, median', percentile(roundMs, 0.5));
  shown('submission to commit and answer, p99', percentile(roundMs, 0.99), 50);
  shown('commit of one number, median', percentile(commitMs, 0.5));
  shown('commit of one number, p99', percentile(commitMs, 0.99));
  shown(`job of ${result.replicas} replicas to its answer, longest`, Math.max(...largeMs), 250);
  shown('main thread meanwhile, longest block', longestBlockMs.large);
  shown('main thread while single jobs come, longest block', longestBlockMs.rounds);
}
