/**
 * `npm run accept -- NAME`: runs a list of commands as a person would type them, prints each with what it really printed, and checks
 * what stands behind it. `first-job` is a list without its long lines; `first-job:bench` and `first-job:test` are those; `scheduling` and
 * `docker-gpus` are others. The last line is `N passed, N failed, N skipped`.
 */
import { dockerGpus } from './accept/docker-gpus.mjs';
import { firstJob, firstJobBench, firstJobTest } from './accept/first-job.mjs';
import { scheduling } from './accept/scheduling.mjs';
import { runCases } from './accept/cases.mjs';
import { fail, prepare } from './prepare/index.mjs';

/** @type {Readonly<Record<string, readonly import('./accept/cases.mjs').Case[]>>} */
const lists = {
  'first-job': firstJob,
  scheduling,
  'docker-gpus': dockerGpus,
  'first-job:bench': firstJobBench,
  'first-job:test': firstJobTest,
};

const args = process.argv.slice(2);
const only = args.find((word) => word.startsWith('--only='))?.slice('--only='.length);
const names = args.filter((word) => !word.startsWith('--'));
const known = Object.keys(lists).join(', ');
if (names.length === 0) fail(`Name a list: npm run accept -- NAME, one of ${known}.`);
const cases = names.flatMap((name) => lists[name] ?? fail(`${name}: no such list; there are ${known}.`));
const chosen = only === undefined ? cases : cases.filter((one) => one.name.includes(only));
if (chosen.length === 0) {
  fail(`--only=${only}: no such line; there are ${cases.map((one) => one.name).join(', ')}.`);
}

await prepare({ window: true, tests: true, bundles: ['main', 'preload', 'renderer'] });
process.exitCode = await runCases(chosen);
