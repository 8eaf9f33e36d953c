/** Telling the user what is being prepared. Everything goes to standard error, so that a command's own output stays clean. */

const started = process.hrtime.bigint();

/** Seconds since a mark, with one decimal. @param {bigint} mark */
function secondsSince(mark) {
  return (Number(process.hrtime.bigint() - mark) / 1e9).toFixed(1);
}

/** @param {string} text */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** A failure the user can do something about: printed without a stack. */
export class UserError extends Error {}

/**
 * Runs the steps that are due, in order, each announced as `[n/m] what`, with a line of life every ten seconds.
 * @param {readonly {title: string, due: () => boolean | Promise<boolean>, run: (note: (text: string) => void) => Promise<void>}[]} steps
 */
export async function runSteps(steps) {
  let announced = 0;
  for (const [index, step] of steps.entries()) {
    if (!(await step.due())) continue;
    announced += 1;
    const mark = process.hrtime.bigint();
    say(`[${index + 1}/${steps.length}] ${step.title}`);
    let last = '';
    const beat = setInterval(
      () => say(`      ... ${secondsSince(mark)} s${last === '' ? '' : `: ${last}`}`),
      10_000,
    );
    try {
      await step.run((text) => {
        last = text.trim().slice(0, 100);
      });
    } finally {
      clearInterval(beat);
    }
    say(`      done in ${secondsSince(mark)} s`);
  }
  if (announced > 0) say(`Prepared in ${secondsSince(started)} s.`);
  return announced;
}
