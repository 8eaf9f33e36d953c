/**
 * Runs a built file with V8's compiled form of it, kept from an earlier start: reading and compiling the controller's code is a third
 * of what its start costs. The form is only ever used for the very text it was made from, and V8 itself refuses one of another version.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';

/** The first line the build gives each such file: a comment with the digest of what follows. */
const digestLine = /^\/\/([0-9a-f]{64})\n/;
const digestLength = 64;

export interface CachedCode {
  /** What the file exports. */
  readonly exported: unknown;
  /** Keeps the compiled form as it is now, functions included that have run since, unless a good one was there already. */
  keep(): void;
}

export function runCached(file: string, cacheFile: string): CachedCode {
  const text = readFileSync(file, 'utf8');
  const digest = digestLine.exec(text.slice(0, digestLength + 3))?.[1];
  const kept = digest === undefined ? null : readKept(cacheFile, digest);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: file,
    ...(kept === null ? {} : { cachedData: kept }),
  });
  const good = kept !== null && script.cachedDataRejected !== true;
  const module: { exports: unknown } = { exports: {} };
  // The text above is a function of these parameters, as Node itself wraps a file.
  const run = script.runInThisContext() as (...parameters: readonly unknown[]) => void;
  run(module.exports, createRequire(file), module, file, path.dirname(file));
  let keeping = digest !== undefined && !good;
  return {
    exported: module.exports,
    keep() {
      if (!keeping || digest === undefined) return;
      keeping = false;
      writeKept(cacheFile, Buffer.concat([Buffer.from(digest, 'latin1'), script.createCachedData()]));
    },
  };
}

function readKept(cacheFile: string, digest: string): Buffer | null {
  try {
    const kept = readFileSync(cacheFile);
    return kept.toString('latin1', 0, digestLength) === digest ? kept.subarray(digestLength) : null;
  } catch {
    return null; // none yet
  }
}

/**
 * Whole or not at all, also after a power cut: V8 checks no sum over what it is given. That it cannot be kept costs the next start some
 * time and nothing else.
 */
function writeKept(cacheFile: string, content: Buffer): void {
  const fresh = `${cacheFile}.${process.pid}`;
  try {
    mkdirSync(path.dirname(cacheFile), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, content, { mode: 0o600, flush: true });
    renameSync(fresh, cacheFile);
  } catch {
    if (existsSync(fresh)) rmSync(fresh, { force: true });
  }
}
