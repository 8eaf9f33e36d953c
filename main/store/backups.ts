/** Copies of the database in `backups/` beside it: whole and readable by their owner only, or not there. */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Connection } from './connection.js';
import { asRefusal } from './failures.js';
import { syncFile, syncFolder } from './files.js';

const keptCopies = 3;

function folderOf(databasePath: string): string {
  return join(dirname(databasePath), 'backups');
}

/** Free name for a copy of that kind; sorts by time. */
function freeName(databasePath: string, kind: string, nowMs: number): string {
  const folder = folderOf(databasePath);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = new Date(nowMs).toISOString().replaceAll(':', '-');
  const stem = join(folder, prefixOf(databasePath, kind) + stamp);
  let name = `${stem}.db`;
  for (let number = 2; existsSync(name); number++) name = `${stem}-${number}.db`;
  return name;
}

/**
 * Makes a finished copy durable and gives it its name, then removes all but the newest of its kind. Those that are called later than
 * this one are of a clock that was ahead: they are older.
 */
function keep(partial: string, file: string, prefix: string): void {
  chmodSync(partial, 0o600);
  syncFile(partial);
  renameSync(partial, file);
  const folder = dirname(file);
  syncFolder(folder);
  const copies = readdirSync(folder).filter((name) => name.startsWith(prefix) && name.endsWith('.db'));
  const own = basename(file);
  const [ahead, others] = [copies.filter((name) => name > own), copies.filter((name) => name <= own)];
  for (const name of [...ahead.sort(), ...others.sort()].slice(0, -keptCopies))
    rmSync(join(folder, name), { force: true });
}

function prefixOf(databasePath: string, kind: string): string {
  return `${basename(databasePath, '.db')}-${kind}-`;
}

/** Copies at once, blocking; for moments when nothing runs. Returns the file. */
export function backupSync(connection: Connection, kind: string, nowMs: number): string {
  return connection.guard('Backing up the database', () => {
    const file = freeName(connection.path, kind, nowMs);
    const partial = `${file}.partial`;
    removeHalves(connection.path, kind);
    try {
      connection.prepare('backup', 'VACUUM INTO ?').run(partial);
      keep(partial, file, prefixOf(connection.path, kind));
    } catch (error) {
      // What was written of it would keep a full disk full, and each start would leave another.
      for (const name of [partial, `${partial}-journal`]) rmSync(name, { force: true });
      throw error;
    }
    return file;
  });
}

/**
 * The same beside other work: `copy` writes the file it is given, and makes it durable. What an ended program left of earlier ones is
 * removed first; of one that fails nothing stays.
 */
export async function backupBeside(
  path: string,
  kind: string,
  nowMs: number,
  copy: (partial: string) => Promise<void>,
): Promise<string> {
  try {
    const file = freeName(path, kind, nowMs);
    removeHalves(path, kind);
    try {
      await copy(`${file}.partial`);
      keep(`${file}.partial`, file, prefixOf(path, kind));
    } catch (error) {
      removeHalves(path, kind);
      throw error;
    }
    return file;
  } catch (error) {
    throw asRefusal(error, 'Backing up the database', path);
  }
}

function removeHalves(databasePath: string, kind: string): void {
  const folder = folderOf(databasePath);
  for (const name of readdirSync(folder))
    if (name.startsWith(prefixOf(databasePath, kind)) && !name.endsWith('.db'))
      rmSync(join(folder, name), { force: true });
}

/** The newest copy there is, of any kind unless one is named, and not later than told; null when there is none. */
export function newestBackup(
  databasePath: string,
  kind?: string,
  notAfterMs = Number.POSITIVE_INFINITY,
): { readonly file: string; readonly atMs: number } | null {
  const folder = folderOf(databasePath);
  if (!existsSync(folder)) return null;
  const prefix = kind === undefined ? `${basename(databasePath, '.db')}-` : prefixOf(databasePath, kind);
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.db'))
    .map((name) => ({ file: join(folder, name), atMs: statSync(join(folder, name)).mtimeMs }))
    .filter(({ atMs }) => atMs <= notAfterMs)
    .sort((a, b) => a.atMs - b.atMs);
  return files.at(-1) ?? null;
}
