/** The checks of style, types and architecture, as `npm run lint`, `npm run typecheck` and `npm test` run them. */
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { tellFailure } from './failures.mjs';
import { nodeModules, root } from './paths.mjs';
import { run } from './run.mjs';

/** @typedef {{name: string, script: string, args: string[]}} Check */

const script = (/** @type {string[]} */ ...path) => join(nodeModules, ...path);
const tsc = script('typescript', 'bin', 'tsc');
const typed = ['core', 'main', 'main/preload', 'renderer', 'test', 'scripts'];

/** One a tsconfig: each folder sees only the ambient types of its own world. @type {Check[]} */
export const typeChecks = typed.map((folder) => ({
  name: `types of ${folder}`,
  script: tsc,
  args: ['-p', folder],
}));

/** @type {Check[]} */
export const lintChecks = [
  {
    name: 'formatting (prettier)',
    script: script('prettier', 'bin', 'prettier.cjs'),
    args: ['--check', '--log-level', 'warn', '.'],
  },
  {
    name: 'rules (eslint)',
    script: script('eslint', 'bin', 'eslint.js'),
    args: ['--max-warnings', '0', '.'],
  },
  {
    name: 'import laws (dependency-cruiser)',
    script: script('dependency-cruiser', 'bin', 'dependency-cruise.mjs'),
    args: ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'core', 'main', 'renderer', 'test'],
  },
  { name: 'unused code (knip)', script: script('knip', 'bin', 'knip.js'), args: ['--no-progress'] },
];

/**
 * Runs checks, two at a time, and prints what the failing ones say.
 * @param {readonly Check[]} checks @param {number} [timeoutMs]
 * @returns {Promise<{passed: number, failed: number}>}
 */
export async function runChecks(checks, timeoutMs = 10 * 60_000) {
  const waiting = [...checks];
  const count = { passed: 0, failed: 0 };
  const work = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const started = Date.now();
      const result = existsSync(check.script)
        ? await run(process.execPath, [check.script, ...check.args], { cwd: root, timeoutMs, env: plain() })
        : { code: 1, output: `${check.script} is not installed`, timedOut: false };
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      const failed = result.code !== 0;
      count[failed ? 'failed' : 'passed'] += 1;
      const what = `${check.name} (${seconds} s)${result.timedOut ? ': took too long' : ''}`;
      if (failed) tellFailure(what);
      else console.log(`  ok      ${what}`);
      if (failed) console.log(result.output.trimEnd().replace(/^/gm, '          '));
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, cpus().length) }, work));
  return count;
}

/** The programs' own colours would end up as escapes in a log. */
function plain() {
  return { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
}
