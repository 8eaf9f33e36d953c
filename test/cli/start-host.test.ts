import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HostLink } from '../../main/cli/host-link.js';
import { startHost } from '../../main/cli/start-host.js';
import type { Connection } from '../../main/cli/connection.js';
import { resolveHome, type Home } from '../../main/home.js';
import { eventually } from '../harness/eventually.js';

const program = { executable: process.execPath, script: path.join(import.meta.dirname, 'stub-host.mjs') };
let home: Home;
const connections: Connection[] = [];

beforeEach(() => {
  home = resolveHome({ flag: mkdtempSync(path.join(tmpdir(), 'iris-cli-')), machineId: 'aaaaaaaaaaaa' });
});

afterEach(() => {
  vi.useRealTimers();
  for (const connection of connections.splice(0)) connection.close();
  for (const pid of startedPids()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      continue; // it has ended by itself
    }
  }
  rmSync(home.root, { recursive: true, force: true });
});

function startedPids(): number[] {
  try {
    return readFileSync(path.join(home.root, 'starts'), 'utf8').trim().split('\n').map(Number);
  } catch {
    return []; // nothing was started
  }
}

/** Those whose end is known here. */
function endedPids(): number[] {
  return startedPids().filter((pid) => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
}

/** Time passes when a test says so: none that starts slowly is late. */
function holdClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
}

const environment = (mode: string) => ({ ...process.env, STUB_SOCKET: home.socket, STUB_MODE: mode });

async function start(mode: string): Promise<Connection> {
  const connection = await startHost(home, program, environment(mode));
  connections.push(connection);
  return connection;
}

describe('starting a host', () => {
  it('waits until it answers', async () => {
    const connection = await start('serve');
    expect(startedPids()).toEqual([connection.host.pid]);
  });

  it('waits for one that lives and takes its time to come up', async () => {
    holdClock();
    const starting = start('slow');
    await eventually(startedPids).toHaveLength(1);
    vi.advanceTimersByTime(59_000);
    const looked = vi.spyOn(performance, 'now');
    await eventually(() => looked.mock.calls.length).toBeGreaterThan(1);
    writeFileSync(path.join(home.root, 'go'), '');
    expect([(await starting).host.pid]).toEqual(startedPids());
  });

  it('leaves the name of the task it was started from behind', async () => {
    const connection = await startHost(home, program, {
      ...environment('serve'),
      IRIS_ATTEMPT_UID: 'feedfacefeedface',
    });
    connections.push(connection);
    const variables = readFileSync(`/proc/${connection.host.pid}/environ`, 'latin1').split('\0');
    expect(variables.some((text) => text.startsWith('STUB_MODE='))).toBe(true);
    expect(variables.some((text) => text.startsWith('IRIS_ATTEMPT_UID='))).toBe(false);
  });

  it('is safe when two start at once: both get the one that won', async () => {
    const [first, second] = await Promise.all([start('serve'), start('serve')]);
    expect(first.host.pid).toBe(second.host.pid);
    expect(startedPids()).toContain(first.host.pid);
    // The other may only begin by now; it leaves again.
    await eventually(startedPids).toHaveLength(2);
    await eventually(endedPids).toHaveLength(1);
  });

  it('asks again when the folder was still held by a host on its way out', async () => {
    const connection = await start('lose-first');
    expect(startedPids()).toHaveLength(2);
    expect(startedPids()[1]).toBe(connection.host.pid);
  });

  it('says what a host that cannot start said', async () => {
    await expect(start('fail')).rejects.toThrow(
      `No host runs for ${home.root} and a new one could not be used: it ended at once (exit code 125): The database was written by a newer version.`,
    );
  });

  it('says of a host that has the folder and does not answer that it is there', async () => {
    writeFileSync(path.join(home.root, 'lock'), '');
    holdClock();
    const started = startHost(home, program, environment('serve'), 1000);
    const refused = expect(started).rejects.toMatchObject({
      refusal: {
        code: 'UNAVAILABLE',
        message: `The host of ${home.root} has not answered within 1 s. The data folder ${home.root} is in use by another host. Attach to it. It may be very busy: try again in a while. If it stays so, end its process: running jobs go on, and the next command starts another.`,
      },
    });
    await eventually(endedPids).toHaveLength(1);
    vi.advanceTimersByTime(501);
    await eventually(endedPids).toHaveLength(2);
    vi.advanceTimersByTime(500);
    await refused;
  });

  it('gives one that took the folder of a host on its way out its own time, and says nothing of that host', async () => {
    holdClock();
    const started = startHost(home, program, environment('lose-first-hang'), 1000);
    const refused = expect(started).rejects.toMatchObject({
      refusal: {
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/a new one could not be used: none answered within 1 s\. Its log is /),
      },
    });
    await eventually(endedPids).toHaveLength(1);
    vi.advanceTimersByTime(501);
    await eventually(startedPids).toHaveLength(2);
    vi.advanceTimersByTime(1001);
    await refused;
    expect(startedPids()).toHaveLength(2);
  });

  it('says that there is no program to start', async () => {
    const missing = { executable: path.join(home.root, 'no-such-program'), script: 'x' };
    await expect(startHost(home, missing, process.env)).rejects.toThrow(/it cannot be started \(.*ENOENT/);
  });

  it('is done once, by the first command that needs a host', async () => {
    const link = () =>
      new HostLink({
        home,
        program,
        environment: environment('serve'),
        cluster: undefined,
        note: () => undefined,
      });
    const first = await link().open();
    const second = await link().open();
    connections.push(first, second);
    expect(second.host.pid).toBe(first.host.pid);
    expect(startedPids()).toHaveLength(1);
  });
});
