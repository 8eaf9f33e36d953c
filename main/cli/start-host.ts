/** Starts a headless host that outlives us, and waits until one answers: ours, or the one that was faster. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import { prepareHome, type Home } from '../home.js';
import { NobodyAnswers, openConnection, type Connection } from './connection.js';

export interface HostProgram {
  /** Node, or Electron as Node. */
  readonly executable: string;
  /** The bundled headless host. */
  readonly script: string;
}

/** Ours that lives comes up: it, and its database, may have to be read from a cold disk first. */
const usualComingUpMs = 60_000;
/** Another has the folder and says nothing. */
const usualPatienceMs = 15_000;
const shortestWaitMs = 10;
const longestWaitMs = 250;
/** A host that leaves holds the folder for a moment; then it is asked for again. */
const retryAfterMs = 500;

export async function startHost(
  home: Home,
  program: HostProgram,
  environment: NodeJS.ProcessEnv,
  patienceMs?: number,
): Promise<Connection> {
  prepareHome(home);
  const started = performance.now();
  let wake: () => void = () => undefined;
  const changed = () => wake();
  const watcher = watchFolder(path.dirname(home.socket), changed);
  let attempt = launch(home, program, environment, changed);
  let launchedAt = started;
  let waitMs = shortestWaitMs;
  try {
    for (;;) {
      const connection = await tryConnection(home.socket);
      if (connection !== null) return connection;
      const end = attempt.end();
      const now = performance.now();
      // One that lives may have got the folder of a host that has left: it has its own time, and ends at once where it has not.
      const since = end === null ? launchedAt : started;
      const mostMs = patienceMs ?? (end === null ? usualComingUpMs : usualPatienceMs);
      if (now - since > mostMs || end?.kind === 'failed') {
        const within = `within ${mostMs / 1000} s`;
        if (end?.kind === 'lost') throw silentHost(home, within, end.said);
        const said = end?.said ?? attempt.said();
        const what = end?.kind === 'failed' ? end.what : `none answered ${within}`;
        throw new RefusalError(
          refusal(
            'UNAVAILABLE',
            `No host runs for ${home.root} and a new one could not be used: ${what}${said === '' ? '' : `: ${said}`}. Its log is ${attempt.logFile}.`,
          ),
        );
      }
      // Another had the folder and still does not answer: it was on its way out.
      if (end?.kind === 'lost' && now - end.atMs > retryAfterMs) {
        attempt.dispose();
        attempt = launch(home, program, environment, changed);
        launchedAt = now;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      waitMs = Math.min(waitMs * 1.5, longestWaitMs);
    }
  } finally {
    watcher?.close();
    attempt.dispose();
  }
}

function silentHost(home: Home, within: string, said: string): RefusalError {
  return new RefusalError(
    refusal(
      'UNAVAILABLE',
      `The host of ${home.root} has not answered ${within}. ${said === '' ? '' : `${said}. `}It may be very busy: try again in a while. If it stays so, end its process: running jobs go on, and the next command starts another.`,
    ),
  );
}

type LaunchEnd =
  | { readonly kind: 'failed'; readonly what: string; readonly said: string }
  /** Another host has the folder. */
  | { readonly kind: 'lost'; readonly atMs: number; readonly said: string };

interface Launch {
  readonly logFile: string;
  /** The last line it wrote. */
  said(): string;
  /** How it ended; null while it lives. */
  end(): LaunchEnd | null;
  /** Lets go of it; it lives on. */
  dispose(): void;
}

function launch(
  home: Home,
  program: HostProgram,
  environment: NodeJS.ProcessEnv,
  changed: () => void,
): Launch {
  const logFile = path.join(home.logs, 'headless-start.log');
  const logFrom = sizeOf(logFile);
  const said = () => lastLine(readFrom(logFile, logFrom));
  let end: LaunchEnd | null = null;
  const child = spawnHost(home, program, environment, logFile);
  child.on('error', (error) => {
    end = { kind: 'failed', what: `it cannot be started (${error.message})`, said: '' };
    changed();
  });
  child.on('exit', (code, signal) => {
    const text = said();
    end =
      text.includes('is in use by') || code === 0
        ? { kind: 'lost', atMs: performance.now(), said: text }
        : { kind: 'failed', what: `it ended at once (${signal ?? `exit code ${code ?? '?'}`})`, said: text };
    changed();
  });
  return {
    logFile,
    said,
    end: () => end,
    dispose: () => {
      child.removeAllListeners();
      child.on('error', () => undefined);
      child.unref();
    },
  };
}

function spawnHost(
  home: Home,
  program: HostProgram,
  environment: NodeJS.ProcessEnv,
  logFile: string,
): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  try {
    const asNode = 'electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {};
    return spawn(program.executable, [program.script, '--home', home.root], {
      // A folder that stays: the caller's may be on a disk that is to be unmounted.
      cwd: home.folder,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...withoutTask(environment), ...asNode },
      windowsHide: true,
    });
  } finally {
    closeSync(log);
  }
}

/** A host started from inside a task is no part of it: with the attempt's name in its environment it would end with the task. */
function withoutTask(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name !== 'IRIS_ATTEMPT_UID'));
}

/** A connection; null when nobody answers yet, or the one who does is just leaving. */
async function tryConnection(socketPath: string): Promise<Connection | null> {
  try {
    return await openConnection(socketPath);
  } catch (error) {
    if (error instanceof NobodyAnswers) return null;
    if (
      error instanceof RefusalError &&
      (error.refusal.code === 'UNAVAILABLE' || error.refusal.code === 'DISCONNECTED')
    )
      return null;
    throw error;
  }
}

/** Wakes us as the socket appears; where folders cannot be watched, the waits alone do. */
function watchFolder(folder: string, changed: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null; // no inotify watches left: polling serves
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0; // not there yet
  }
}

function readFrom(file: string, offset: number): string {
  try {
    return readFileSync(file).subarray(offset).toString('utf8');
  } catch {
    return ''; // nothing was written
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().replace(/\.$/, '') ?? '';
}
