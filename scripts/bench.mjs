/**
 * `npm run bench [-- NAME...] [--json]`: runs the files of test/bench and prints a table of their figures, or with `--json` one line a
 * figure. Exit code 1 when a figure falls short of its target or a bench fails.
 */
import { fork } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { localDir, nodeModules, root } from './lib/paths.mjs';
import { say } from './lib/step.mjs';
import { fail, prepare } from './prepare/index.mjs';

/** @typedef {{name: string, value: number, unit: string, comparedWith: string | null, ratio: number | null, target: string | null, holds: boolean}} Figure */

const json = process.argv.includes('--json');
const asked = process.argv.slice(2).filter((word) => word !== '--json');
const folder = join(root, 'test', 'bench');
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.bench.ts'))
  .map((name) => name.slice(0, -'.bench.ts'.length));
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0)
  fail(`${unknown.join(', ')}: no such bench; there are ${names.join(', ') || 'none yet'}.`);
const chosen = asked.length === 0 ? names : names.filter((name) => asked.includes(name));

await prepare({ window: true, tests: true, bench: true, bundles: ['main', 'preload', 'renderer'] });
const outDir = join(localDir, `bench-${process.pid}`);
/** @type {Figure[]} */
const figures = [];
let broken = 0;
try {
  await bundle(chosen);
  for (const name of chosen) await runBench(name);
} finally {
  rmSync(outDir, { recursive: true, force: true });
}
if (!json) printTable();
process.exitCode = broken > 0 || figures.some((figure) => !figure.holds) ? 1 : 0;

/** @param {readonly string[]} wanted */
async function bundle(wanted) {
  if (wanted.length === 0) return;
  mkdirSync(outDir, { recursive: true });
  const { build } = await import(pathToFileURL(join(nodeModules, 'vite', 'dist', 'node', 'index.js')).href);
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: {
      noExternal: true,
      external: ['better-sqlite3', 'electron', '@playwright/test', 'playwright-core'],
      target: 'node',
    },
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      emptyOutDir: true,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries(wanted.map((name) => [name, join(folder, `${name}.bench.ts`)])),
        output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: 'chunk-[name]-[hash].mjs' },
      },
    },
  });
}

/** @param {string} name @returns {Promise<void>} */
function runBench(name) {
  say(`bench ${name}`);
  return new Promise((resolve) => {
    const child = fork(join(root, 'scripts', 'lib', 'bench-runner.mjs'), [join(outDir, `${name}.mjs`)], {
      // A bench may print what it likes; standard output is for figures alone.
      stdio: ['ignore', 2, 2, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    child.on('message', (/** @type {{figure?: Figure, note?: string, error?: string}} */ message) => {
      if (message.figure !== undefined) {
        figures.push(message.figure);
        if (json) console.log(JSON.stringify(message.figure));
      }
      if (message.note !== undefined) say(`  ${message.note}`);
      if (message.error !== undefined) say(`  FAILED ${message.error}`);
    });
    child.on('exit', (code, signal) => {
      if (code !== 0) {
        broken += 1;
        say(`  ${name} ended with ${signal ?? `exit code ${code}`}`);
      }
      resolve();
    });
  });
}

function printTable() {
  const number = (/** @type {number | null} */ value) =>
    value === null ? '' : Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  const rows = [
    ['figure', 'value', 'unit', 'beside', 'ratio', 'target', 'holds'],
    ...figures.map((figure) => [
      figure.name,
      number(figure.value),
      figure.unit,
      figure.comparedWith ?? '',
      number(figure.ratio),
      figure.target ?? '(shown only)',
      figure.holds ? 'yes' : 'NO',
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
