/** Runs the script of the caches, on this machine, and reads what it prints wherever it ran. */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { cacheNames, type CacheName } from '../../../../core/contract/caches.js';
import { messageOf } from '../process/error-code.js';
import script from './shared-caches.sh?raw';

export { script as cachesScript };

/** `late`: it was ended when its time was over; what it had printed by then counts. */
export type ScriptEnd =
  | { readonly kind: 'done' | 'late'; readonly text: string }
  /** It could not be run, or nobody is there to say what became of it. */
  | { readonly kind: 'failed'; readonly message: string };

/** `signal`: nobody wants it any more. */
export type RunCachesScript = (
  seconds: number,
  args: readonly string[],
  signal: AbortSignal,
) => Promise<ScriptEnd>;

export const hangsMessage = 'an earlier look at them still hangs: the disk they lie on does not answer';

/** Such as did not even die when they were killed: more would only hang beside them. */
const hanging = new Set<ChildProcess>();
const mostBytes = 1 << 20;

export const runCachesScriptHere: RunCachesScript = (seconds, args, signal) => {
  if (hanging.size > 0) return Promise.resolve({ kind: 'failed', message: hangsMessage });
  if (signal.aborted) return Promise.resolve({ kind: 'failed', message: 'the host ends' });
  const child = begun(args);
  if (child instanceof Error) return Promise.resolve({ kind: 'failed', message: child.message });
  return new Promise((resolve) => {
    let text = '';
    const end = (how: ScriptEnd): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', late);
      resolve(how);
    };
    const late = (): void => {
      hanging.add(child);
      killGroup(child);
      end({ kind: 'late', text });
    };
    const timer = setTimeout(late, seconds * 1000);
    timer.unref();
    signal.addEventListener('abort', late);
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      if (text.length < mostBytes) text += piece;
    });
    // Not when the shell has ended: what hangs is what it called, which has its output open as long as it lives.
    child.on('close', () => {
      hanging.delete(child);
      end({ kind: 'done', text });
    });
    child.on('error', (error) => end({ kind: 'failed', message: error.message }));
  });
};

/** Or why the system makes none. */
function begun(args: readonly string[]): ChildProcess | Error {
  try {
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...args], {
      cwd: '/',
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    // Who ends does not wait for what hangs.
    child.unref();
    if (child.stdout instanceof Socket) child.stdout.unref();
    return child;
  } catch (error) {
    return new Error(messageOf(error));
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}

export interface SaidOfCaches {
  /** It came to the end of what it was told. */
  readonly whole: boolean;
  /** The folder of all of them is not there, or is a link. */
  readonly folder: 'there' | 'absent' | 'link';
  readonly failed: string | null;
  readonly found: ReadonlyMap<
    CacheName,
    { readonly how: 'all' | 'part' | 'none' | 'link'; readonly bytes: number }
  >;
  readonly moved: readonly CacheName[];
  readonly kept: ReadonlyMap<CacheName, string>;
  readonly left: readonly { readonly path: string; readonly bytes: number }[];
}

const isCache = (name: string): name is CacheName => cacheNames.some((one) => one === name);

/** What is none of its lines is passed over. */
export function readCaches(text: string): SaidOfCaches {
  let [whole, folder, failed]: [boolean, SaidOfCaches['folder'], string | null] = [false, 'there', null];
  const found = new Map<CacheName, { how: 'all' | 'part' | 'none' | 'link'; bytes: number }>();
  const moved: CacheName[] = [];
  const kept = new Map<CacheName, string>();
  const left: { path: string; bytes: number }[] = [];
  // One that was cut off in the middle says nothing.
  for (const line of text.split('\n').slice(0, -1)) {
    const [word = '', name = '', how = '', size = ''] = line.split(' ');
    if (word === 'absent' || word === 'link') [folder, whole] = [word, true];
    else if (['looked', 'emptied', 'removed'].includes(word)) whole = true;
    else if (word === 'failed') failed = line.slice(7);
    else if (word === 'left' && /^\d+$/.test(name))
      left.push({ bytes: Number(name) * 1024, path: line.slice(6 + name.length) });
    else if (!isCache(name)) continue;
    else if (word === 'moved') moved.push(name);
    else if (word === 'kept') kept.set(name, line.slice(6 + name.length));
    else if (word === 'cache' && (how === 'none' || how === 'link')) found.set(name, { how, bytes: 0 });
    else if (word === 'cache' && (how === 'all' || how === 'part') && /^\d+$/.test(size))
      found.set(name, { how, bytes: Number(size) * 1024 });
  }
  return { whole, folder, failed, found, moved, kept, left };
}
