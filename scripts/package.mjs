/**
 * `npm run package`: the installable folder of this platform in dist/, made from the runtime of this checkout without any download.
 * `npm run package -- deb rpm` makes packages of it as well; their tools are downloaded by electron-builder.
 */
import { copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localDir, nodeModules, root } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { say } from './lib/step.mjs';
import { fail, prepare } from './prepare/index.mjs';
import { resolveRuntime } from './runtime.mjs';

await prepare({ window: true, bundles: ['main', 'preload', 'renderer'] });
const runtime = resolveRuntime();
const targets = process.argv.slice(2);
const platform = { linux: '--linux', darwin: '--mac', win32: '--win' }[
  /** @type {string} */ (process.platform)
];
if (platform === undefined) fail(`There is no packaging for ${process.platform}.`);

const electronDist = join(localDir, `package-electron-${process.pid}`);
say(`Packaging with Electron ${runtime.version} (${runtime.kind})`);
try {
  copyRuntime(runtime.folder, electronDist);
  writeFileSync(join(electronDist, 'version'), runtime.version);
  const result = await run(
    process.execPath,
    [
      join(nodeModules, 'electron-builder', 'cli.js'),
      platform,
      ...(targets.length === 0 ? ['dir'] : targets),
      '--publish',
      'never',
      '--config',
      'electron-builder.yml',
      `--config.electronDist=${electronDist}`,
      `--config.electronVersion=${runtime.version}`,
      ...(process.env.IRIS_PACKAGE_OUTPUT
        ? [`--config.directories.output=${process.env.IRIS_PACKAGE_OUTPUT}`]
        : []),
    ],
    {
      cwd: root,
      env: { ...process.env, USE_HARD_LINKS: 'false' },
      onLine: (line) => say(`  ${line}`),
      timeoutMs: 20 * 60_000,
    },
  );
  process.exitCode = result.code;
} finally {
  rmSync(electronDist, { recursive: true, force: true });
}

/**
 * The runtime without this checkout's app in it. The executable is copied, since its fuses are set in place; the rest is linked.
 * @param {string} from @param {string} to
 */
function copyRuntime(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (name === 'resources' && runtime.kind === 'fallback') continue;
    if (statSync(source).isDirectory()) copyRuntime(source, target);
    else if (source === runtime.executable) copyFileSync(source, target);
    else {
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target);
      }
    }
  }
}
