/**
 * better-sqlite3 for runtimes that offer Node-API 9 only (Node 20, Electron 33): its prebuilt binary needs level 10 and would crash the process.
 * It is built from the package's own source with scripts/native/node-api-9.h forced in. The result is kept outside the
 * checkout, by everything it depends on, and copied to the place the package looks at first. It works at level 10 as well.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { cacheDir, localDir, nodeModules, root } from '../lib/paths.mjs';
import { isMusl, run } from '../lib/run.mjs';
import { UserError, say } from '../lib/step.mjs';

const level = 9;
const header = join(root, 'scripts', 'native', 'node-api-9.h');
const packageDir = join(nodeModules, 'better-sqlite3');
const target = join(packageDir, 'build', 'Release', 'better_sqlite3.node');
const targetKey = join(packageDir, 'build', 'Release', 'built-from');

/**
 * A commit waits for its write-ahead log alone: SQLite syncs with fsync unless told that there is fdatasync, and on ext4 the former
 * commits the journal with everything else that is under way in the file system, such as the folders of starting tasks. What it
 * promises is the same: fdatasync leaves out only metadata that reading the data does not need.
 */
const sqliteFlags = platform() === 'linux' ? '-DHAVE_FDATASYNC=1' : '';

/** Everything the binary depends on. */
function buildKey() {
  const version = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')).version;
  const digest = createHash('sha256')
    .update(readFileSync(header))
    .update(sqliteFlags)
    .digest('hex')
    .slice(0, 12);
  return `better-sqlite3-${version}-${platform()}${isMusl() ? 'musl' : ''}-${arch()}-napi${level}-${digest}`;
}

/** True when this Node, or the runtime the window will use, cannot load the prebuilt binary. @param {number} runtimeLevel */
export function nativeNeeded(runtimeLevel) {
  return Math.min(Number(process.versions.napi), runtimeLevel) < 10;
}

/** @param {number} [runtimeLevel] Node-API level of the Electron runtime, when it is known. */
export function nativeDue(runtimeLevel = 10) {
  // Without the package, npm ci is due first and this after it.
  if (!nativeNeeded(runtimeLevel) || !existsSync(join(packageDir, 'package.json'))) return false;
  return !existsSync(target) || !existsSync(targetKey) || readFileSync(targetKey, 'utf8') !== buildKey();
}

/** True when a compiler will be needed: nothing built and nothing kept from an earlier build. @param {boolean} window */
export function compilerDue(window) {
  // Before npm ci nothing is known of the package; a Node of level 9 alone decides then.
  if (!existsSync(join(packageDir, 'package.json'))) return nativeNeeded(window ? 9 : 10);
  return nativeNeeded(window ? 9 : 10) && !existsSync(targetKey) && !existsSync(cachedFile());
}

const cachedFile = () => join(cacheDir, 'native', `${buildKey()}.node`);

/** @param {(text: string) => void} note */
export async function prepareNative(note) {
  const key = buildKey();
  const cached = cachedFile();
  if (!existsSync(cached)) await buildInto(cached, note);
  mkdirSync(dirname(target), { recursive: true });
  // Written beside and renamed: a process that has the old file mapped keeps it.
  const fresh = `${target}.${process.pid}`;
  cpSync(cached, fresh);
  renameSync(fresh, target);
  writeFileSync(targetKey, key);
  const check = spawnSync(
    process.execPath,
    [
      '-e',
      "const D=require('better-sqlite3');new D(':memory:').prepare('select 1 as one').get().one===1||process.exit(2)",
    ],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  if (check.status !== 0) {
    rmSync(cached, { force: true });
    rmSync(targetKey, { force: true });
    throw new UserError(
      `The built better-sqlite3 does not open a database:\n${check.stderr || String(check.signal)}`,
    );
  }
}

/** @param {string} cached @param {(text: string) => void} note */
async function buildInto(cached, note) {
  say(
    `      compiling for Node-API ${level}, about 80 s on two cores; the result is kept in ${dirname(cached)}`,
  );
  // Inside the checkout, so that the package's own dependency is found; outside the package, so that a broken build leaves no half result.
  const work = join(localDir, `native-${process.pid}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    for (const part of ['binding.gyp', 'package.json', 'src', 'lib', 'deps', 'prebuilds']) {
      cpSync(join(packageDir, part), join(work, part), { recursive: true });
    }
    const gyp = join(nodeModules, 'node-gyp', 'bin', 'node-gyp.js');
    const args = [
      'rebuild',
      '--release',
      '--force_build=1',
      `--nodedir=${headersDir(work)}`,
      '--jobs',
      String(cpus().length),
    ];
    const flags = `-UNAPI_VERSION -DNAPI_VERSION=${level} -include ${JSON.stringify(header)}`;
    const result = await run(process.execPath, [gyp, ...args], {
      cwd: work,
      env: {
        ...process.env,
        CFLAGS: `${process.env.CFLAGS ?? ''} ${sqliteFlags}`.trim(),
        CXXFLAGS: `${process.env.CXXFLAGS ?? ''} ${flags}`.trim(),
      },
      onLine: note,
      timeoutMs: 15 * 60_000,
    });
    const built = join(work, 'build', 'Release', 'better_sqlite3.node');
    if (result.code !== 0 || !existsSync(built)) {
      throw new UserError(
        `better-sqlite3 could not be compiled (it needs python3, make and a C++20 compiler):\n${result.output.slice(-3000)}`,
      );
    }
    mkdirSync(dirname(cached), { recursive: true });
    cpSync(built, `${cached}.${process.pid}`);
    renameSync(`${cached}.${process.pid}`, cached);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * A folder with `include/node` for node-gyp. Nodes from a distribution come without headers and nodejs.org may be out of reach, so the
 * Node-API headers of npm's node-api-headers are used, which is all an addon of this kind includes.
 * @param {string} work
 */
function headersDir(work) {
  const prefix = dirname(dirname(process.execPath));
  if (platform() !== 'linux' && existsSync(join(prefix, 'include', 'node', 'common.gypi'))) return prefix;
  const include = join(work, 'headers', 'include', 'node');
  cpSync(join(nodeModules, 'node-api-headers', 'include'), include, { recursive: true });
  writeFileSync(join(include, 'common.gypi'), JSON.stringify(commonGypi, null, 2));
  return join(work, 'headers');
}

/** The part of Node's common.gypi an addon is built with on Linux. */
const commonGypi = {
  variables: { configuring_node: 0, library: 'static_library' },
  target_defaults: {
    default_configuration: 'Release',
    configurations: {
      Release: { cflags: ['-O3', '-fno-omit-frame-pointer'] },
      Debug: { cflags: ['-g', '-O0'] },
    },
    cflags: ['-Wall', '-Wno-unused-parameter', '-pthread', '-fPIC'],
    cflags_cc: ['-fno-rtti', '-fno-exceptions'],
    ldflags: ['-pthread', '-rdynamic'],
  },
};
