/**
 * `npm test`: prepares everything, then runs the stages of lib/stages.mjs; `npm test -- unit e2e` runs some. The last lines
 * name what failed, and then `N passed, N failed, N skipped`. Where CI is set, a skipped test counts as a failure: a build machine has what is needed.
 */
import { failuresOf, repeatFailures, tellFailure } from './lib/failures.mjs';
import { stages } from './lib/stages.mjs';
import { fail, prepare } from './prepare/index.mjs';

/** Time for all stages together; what is left of it cuts each one's own limit. */
const wholeMs = 48 * 60_000;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !stages.some((stage) => stage.name === name));
if (unknown.length > 0) {
  fail(`${unknown.join(', ')}: no such stage; there are ${stages.map((stage) => stage.name).join(', ')}.`);
}
const chosen = asked.length === 0 ? stages : stages.filter((stage) => asked.includes(stage.name));

await prepare({ window: true, tests: true, bundles: ['main', 'preload', 'renderer'] });
const started = Date.now();
const total = { passed: 0, failed: 0, skipped: 0 };
for (const stage of chosen) {
  const mark = Date.now();
  console.log(`${stage.name}:`);
  failuresOf(stage.name);
  const limit = Math.min(stage.timeoutMs, wholeMs - (Date.now() - started));
  let counts = { passed: 0, failed: 1, skipped: 0 };
  if (limit < 1000) tellFailure('no time left');
  else {
    try {
      counts = await stage.run(limit);
    } catch (error) {
      tellFailure(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
  }
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  const seconds = ((Date.now() - mark) / 1000).toFixed(1);
  console.log(`  ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds} s)`);
}
repeatFailures();
const skippedFails = Boolean(process.env.CI) && total.skipped > 0;
if (skippedFails) console.log('Under CI a skipped test is a failure.');
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || skippedFails ? 1 : 0;
