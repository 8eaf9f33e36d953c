/** Hosts to measure: each on a data folder of its own, ended with all it started. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolveHome, type Home } from '../../main/home.js';
import type * as Displays from '../../scripts/lib/display.mjs';
import type * as Runtimes from '../../scripts/runtime.mjs';
import { connectClient, type TestClient } from '../harness/client.js';

// Loaded from where they lie: bundled, they would not find the checkout.
type RuntimeModule = typeof Runtimes;
type DisplayModule = typeof Displays;

export type HostKind = 'headless' | 'desktop';

export interface BenchHost {
  readonly kind: HostKind;
  readonly home: Home;
  readonly client: TestClient;
  /** The host's own process and all below it that belong to it: launcher, helpers; not the attempts. */
  processes(): readonly { readonly pid: number; readonly name: string }[];
  end(): Promise<void>;
}

const startDeadlineMs = 60_000;

// Kept until the end of the run, for the reason below.
const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * A data folder away from what others delete. ext4 without a journal passes over each lately deleted file of a group of the disk before
 * it makes a new one there: for minutes after a build or a test was cleaned up in the temporary folder, an attempt's five files cost a
 * millisecond of processor time instead of a twentieth of it. The flag has folders made in the marked one go to a group with room, which
 * ext4 looks for from where the folder's name points: a name of its own each time, or the run before is met there. Where there is no such
 * flag it changes nothing.
 */
function dataFolder(): string {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'iris-bench-'));
  folders.push(parent);
  spawnSync('chattr', ['+T', parent], { stdio: 'ignore' });
  return mkdtempSync(path.join(parent, 'home-'));
}

export async function startHost(root: string, kind: HostKind): Promise<BenchHost> {
  const folder = dataFolder();
  const home = resolveHome({ flag: folder });
  const started = kind === 'headless' ? startHeadless(root, folder) : await startDesktop(root, folder);
  try {
    const client = await firstConnection(home, started.child);
    return {
      kind,
      home,
      client,
      processes: () => ownProcesses(started.child.pid ?? 0),
      async end() {
        client.close();
        await endProcess(started.child);
        started.after();
      },
    };
  } catch (error) {
    await endProcess(started.child);
    started.after();
    throw error;
  }
}

interface Started {
  readonly child: ChildProcess;
  after(): void;
}

function startHeadless(root: string, folder: string): Started {
  const child = spawn(process.execPath, [path.join(root, 'out/main/headless.js'), '--home', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { child, after: () => undefined };
}

async function startDesktop(root: string, folder: string): Promise<Started> {
  const script = (name: string) => pathToFileURL(path.join(root, 'scripts', name)).href;
  const runtimes = (await import(/* @vite-ignore */ script('runtime.mjs'))) as RuntimeModule;
  const displays = (await import(/* @vite-ignore */ script('lib/display.mjs'))) as DisplayModule;
  const display = await displays.startDisplay();
  const runtime = runtimes.resolveRuntime({ display: 'virtual' });
  const child = spawn(runtime.executable, runtime.args, {
    // A group of its own: Chromium's helpers end with it.
    detached: true,
    // Chromium complains of a missing session bus at length.
    stdio: 'ignore',
    env: {
      ...process.env,
      ...runtime.env,
      ...display.env,
      IRIS_DESKTOP_HOME: folder,
      IRIS_HEADLESS_DISPLAY: '1',
    },
  });
  return {
    child,
    after: () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has ended.
      }
      display.stop();
    },
  };
}

async function firstConnection(home: Home, child: ChildProcess): Promise<TestClient> {
  const deadline = performance.now() + startDeadlineMs;
  for (;;) {
    try {
      return await connectClient(home.socket);
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`The host ended with ${child.exitCode ?? child.signalCode}.`, { cause: error });
      if (performance.now() > deadline)
        throw new Error(`The host did not answer within ${startDeadlineMs / 1000} s.`, { cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function endProcess(child: ChildProcess): Promise<void> {
  const over = () => child.exitCode !== null || child.signalCode !== null;
  if (over()) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  if (!over()) await exit;
  clearTimeout(timer);
}

/** Descendants that are no attempts: those have a session of their own. */
function ownProcesses(rootPid: number): { pid: number; name: string }[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readStat(Number(name));
      return stat === null ? [] : [stat];
    });
  const session = all.find((one) => one.pid === rootPid)?.session;
  const found: { pid: number; name: string }[] = [];
  const queue = [rootPid];
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    const self = all.find((one) => one.pid === pid);
    if (self === undefined || (pid !== rootPid && isAttempt(pid))) continue;
    found.push({
      pid,
      name: self.session === session || pid === rootPid ? self.name : `${self.name} (own session)`,
    });
    queue.push(...all.filter((one) => one.parent === pid).map((one) => one.pid));
  }
  return found;
}

function readStat(pid: number): { pid: number; parent: number; session: number; name: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      parent: Number(fields[1]),
      session: Number(fields[3]),
      name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    };
  } catch {
    return null; // gone meanwhile
  }
}

function isAttempt(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes('IRIS_ATTEMPT_UID=');
  } catch {
    return true; // gone, or not ours
  }
}

/** Resident memory of a process, bytes; null when it has gone. */
export function residentBytes(pid: number): number | null {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line?.[1] === undefined ? null : Number(line[1]) * 1024;
  } catch {
    return null;
  }
}

export function hasProgram(name: string): boolean {
  return spawnSync('which', [name], { stdio: 'ignore' }).status === 0;
}
