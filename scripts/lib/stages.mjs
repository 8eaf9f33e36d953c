/** The stages of `npm test`. Each gives real counts, from the test programs' own reports. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lintChecks, runChecks, typeChecks } from './checks.mjs';
import { startDisplay } from './display.mjs';
import { tellFailure } from './failures.mjs';
import { testUser } from './ordinary-user.mjs';
import { checkPackage } from './package-check.mjs';
import { nodeModules, root } from './paths.mjs';
import { hasProgram, run } from './run.mjs';

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */
/** @typedef {{name: string, timeoutMs: number, run: (timeoutMs: number) => Promise<Counts>}} Stage */

const minute = 60_000;
const none = () => ({ passed: 0, failed: 0, skipped: 0 });
const failed = () => ({ passed: 0, failed: 1, skipped: 0 });
const skipped = () => ({ passed: 0, failed: 0, skipped: 1 });

/** @type {readonly Stage[]} */
export const stages = [
  {
    name: 'lint',
    timeoutMs: 12 * minute,
    run: async (limit) => ({ ...none(), ...(await runChecks(lintChecks, limit)) }),
  },
  {
    name: 'types',
    timeoutMs: 5 * minute,
    run: async (limit) => ({ ...none(), ...(await runChecks(typeChecks, limit)) }),
  },
  { name: 'unit', timeoutMs: 15 * minute, run: (limit) => runVitest(['unit', 'renderer'], limit) },
  ...['store', 'contract', 'backends'].map((name) => ({
    name,
    timeoutMs: 8 * minute,
    run: (/** @type {number} */ limit) => runVitest([name], limit),
  })),
  { name: 'faults', timeoutMs: 12 * minute, run: (limit) => runVitest(['faults'], limit) },
  { name: 'cluster', timeoutMs: 12 * minute, run: (limit) => runVitest(['cluster'], limit) },
  { name: 'e2e', timeoutMs: 12 * minute, run: runWindowTests },
  { name: 'package', timeoutMs: 5 * minute, run: runPackageCheck },
  { name: 'accept', timeoutMs: 15 * minute, run: runAcceptance },
];

/** What a shell of the caller has set must not reach the tests. */
function cleanEnv() {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
  for (const name of Object.keys(env)) {
    if (/^(IRIS_|npm_|ELECTRON_|PYTHONUNBUFFERED$|NODE_OPTIONS$|NODE_ENV$)/.test(name)) delete env[name];
  }
  // Where prepared things are kept is the caller's choice and stays.
  if (process.env.IRIS_DESKTOP_CACHE !== undefined) env.IRIS_DESKTOP_CACHE = process.env.IRIS_DESKTOP_CACHE;
  return env;
}

/** @param {readonly string[]} projects @param {number} timeoutMs @returns {Promise<Counts>} */
async function runVitest(projects, timeoutMs) {
  const folder = mkdtempSync(join(tmpdir(), 'iris-report-'));
  const report = join(folder, 'report.json');
  try {
    const args = ['run', '--passWithNoTests', '--reporter=json', `--outputFile=${report}`];
    const result = await run(
      process.execPath,
      [
        join(nodeModules, 'vitest', 'vitest.mjs'),
        ...args,
        ...projects.flatMap((name) => ['--project', name]),
      ],
      { cwd: root, env: cleanEnv(), timeoutMs },
    );
    if (result.timedOut) return tell(`took longer than ${timeoutMs / minute} minutes`, result.output);
    if (!existsSync(report)) return tell(`ended with exit code ${result.code} and no report`, result.output);
    const data = JSON.parse(readFileSync(report, 'utf8'));
    for (const file of data.testResults) {
      for (const test of file.assertionResults) {
        if (test.status !== 'failed') continue;
        tellFailure(`${file.name.slice(root.length + 1)} > ${test.fullName}`);
        console.log(indent(test.failureMessages.join('\n')));
      }
      if (file.status === 'failed' && file.message) {
        tellFailure(file.name.slice(root.length + 1));
        console.log(indent(file.message));
      }
    }
    const brokenFiles = data.testResults.filter(
      (/** @type {{status: string, assertionResults: {status: string}[]}} */ file) =>
        file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    ).length;
    const counts = {
      passed: data.numPassedTests,
      failed: data.numFailedTests + brokenFiles,
      skipped: data.numPendingTests + data.numTodoTests,
    };
    // An unhandled error fails the run without failing a test.
    if (result.code !== 0 && counts.failed === 0)
      return tell(`ended with exit code ${result.code}`, result.output, counts);
    if (counts.passed + counts.failed + counts.skipped === 0) console.log('  no tests there');
    return counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {number} timeoutMs @returns {Promise<Counts>} */
async function runWindowTests(timeoutMs) {
  const folder = join(root, 'test', 'e2e');
  if (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith('.test.ts'))) {
    console.log('  no tests there');
    return none();
  }
  const wanted = ['Xvfb', 'dbus-run-session', ...(process.getuid?.() === 0 ? ['setpriv'] : [])];
  const missing = wanted.filter((name) => !hasProgram(name));
  if (missing.length > 0) {
    console.log(`  SKIPPED  the window's tests: ${missing.join(', ')} not found`);
    return skipped();
  }
  const user = testUser();
  const display = await startDisplay(user.uid === undefined ? {} : { readableBy: user.uid });
  try {
    const cli = join(user.root, 'node_modules', '@playwright', 'test', 'cli.js');
    const config = join(user.root, 'playwright.config.ts');
    const [program = '', ...args] = user.wrap([
      'dbus-run-session',
      '--',
      process.execPath,
      cli,
      'test',
      '--config',
      config,
    ]);
    const env = { ...cleanEnv(), ...display.env, ...user.env, IRIS_HEADLESS_DISPLAY: '1' };
    const result = await run(program, args, { cwd: user.root, env, timeoutMs });
    const report = user.env.IRIS_E2E_REPORT ?? '';
    keepResults(user.env.IRIS_E2E_OUTPUT ?? '');
    if (result.timedOut) return tell(`took longer than ${timeoutMs / minute} minutes`, result.output);
    if (!existsSync(report)) return tell(`ended with exit code ${result.code} and no report`, result.output);
    const { stats, suites } = JSON.parse(readFileSync(report, 'utf8'));
    for (const title of brokenSpecs(suites)) tellFailure(title);
    const counts = { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped };
    if (result.code !== 0) return tell(`ended with exit code ${result.code}`, result.output, counts);
    return counts;
  } finally {
    display.stop();
    user.remove();
  }
}

/** @typedef {{title: string, specs?: {title: string, ok: boolean}[], suites?: Suite[]}} Suite As Playwright reports it. */

/** @param {Suite[]} suites @returns {string[]} */
function brokenSpecs(suites) {
  return suites.flatMap(({ title, specs = [], suites: inner = [] }) =>
    [...specs.filter(({ ok }) => !ok).map((spec) => spec.title), ...brokenSpecs(inner)].map(
      (name) => `${title} > ${name}`,
    ),
  );
}

/** @param {number} timeoutMs @returns {Promise<Counts>} */
async function runPackageCheck(timeoutMs) {
  if (process.platform !== 'linux') {
    console.log('  SKIPPED  the package: it is checked on Linux');
    return skipped();
  }
  return checkPackage(cleanEnv(), timeoutMs);
}

/** Pictures and traces of failures outlive the test user. @param {string} from */
function keepResults(from) {
  if (from === '' || !existsSync(from)) return;
  const target = join(root, 'test-results');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  void run('cp', ['-R', `${from}/.`, target]);
}

/** @param {number} timeoutMs @returns {Promise<Counts>} */
async function runAcceptance(timeoutMs) {
  const basic = await runLists(['first-job', 'scheduling'], timeoutMs);
  const lacks = missingForLab();
  if (lacks !== '') {
    console.log(`  SKIPPED docker-gpus: it needs ${lacks}`);
    return { ...basic, skipped: basic.skipped + 1 };
  }
  // By itself: its host has to find the lab's Engine and machines.
  const lab = await runLists(['docker-gpus'], timeoutMs);
  return {
    passed: basic.passed + lab.passed,
    failed: basic.failed + lab.failed,
    skipped: basic.skipped + lab.skipped,
  };
}

/** @param {readonly string[]} lists @param {number} timeoutMs @returns {Promise<Counts>} */
async function runLists(lists, timeoutMs) {
  const script = join(root, 'scripts', 'accept.mjs');
  const result = await run(process.execPath, [script, ...lists], {
    cwd: root,
    env: cleanEnv(),
    timeoutMs,
    onLine: (line) => {
      const failure = /^FAILED {2}(.*)$/.exec(line);
      if (failure === null) console.log(`  ${line}`);
      else tellFailure(failure[1] ?? '');
    },
  });
  if (result.timedOut) return tell(`took longer than ${timeoutMs / minute} minutes`, '');
  const line = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(result.output);
  if (line === null) return tell(`ended with exit code ${result.code} and no counts`, '');
  const counts = { passed: Number(line[1]), failed: Number(line[2]), skipped: Number(line[3]) };
  return result.code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** What an Engine of its own and two machines in network namespaces need and this machine lacks; empty when nothing. */
function missingForLab() {
  if (process.getuid?.() !== 0) return 'root';
  const programs = ['dockerd', 'sshd', 'ip'].filter(
    (name) => !hasProgram(name) && !existsSync(`/usr/sbin/${name}`),
  );
  return programs.join(', ');
}

/** @param {string} what @param {string} output @param {Counts} [counts] @returns {Counts} */
function tell(what, output, counts = failed()) {
  tellFailure(what);
  const lines = output.trimEnd().split('\n');
  const telling = lines.filter((line) => !/^dbus-daemon\[|ERROR:bus\.cc|^\[\d+\/\d+\]/.test(line));
  if (output.trim() !== '') console.log(indent(telling.slice(-80).join('\n')));
  return counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

/** @param {string} text */
function indent(text) {
  return text.replace(/^/gm, '          ');
}
