/** Whether something built is still up to date, by the names, sizes and times of what it was built from. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { localDir, root } from './paths.mjs';

/**
 * A digest of what lies under the given files and folders of the checkout: a few hundred stat calls, no content is read.
 * @param {readonly string[]} places
 */
export function inputsDigest(places) {
  const hash = createHash('sha256');
  const visit = (/** @type {string} */ path) => {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (!stat) return;
    if (stat.isDirectory()) {
      for (const name of readdirSync(join(root, path)).sort()) {
        if (name !== 'node_modules' && !name.includes('.test.')) visit(`${path}/${name}`);
      }
      return;
    }
    hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
  };
  for (const place of places) visit(place);
  return hash.digest('hex');
}

/** A digest of the text of a file. @param {string} path Relative to the checkout. */
export function textDigest(path) {
  const file = join(root, path);
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'absent';
}

/**
 * What a JSON file holds; null for none, and for one that cannot be read: a set-up that was cut off, or a full disk, leaves such.
 * @param {string} file
 */
export function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

const stampFile = (/** @type {string} */ name) => join(localDir, 'stamps', name);

/** @param {string} name */
export function readStamp(name) {
  const file = stampFile(name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** @param {string} name @param {string} value */
export function writeStamp(name, value) {
  mkdirSync(dirname(stampFile(name)), { recursive: true });
  writeFileSync(stampFile(name), value);
}
