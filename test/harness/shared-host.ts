/** One real host for the tests of a file; what a test left running is stopped after it. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { MethodResult } from '../../core/contract/api.js';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { MachineView } from '../../core/contract/machines.js';
import type { TestClient } from './client.js';
import { eventually } from './eventually.js';
import { running, shell, stop, submit } from './host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from './host-process.js';

export interface SharedHost {
  readonly root: string;
  readonly host: HostProcess;
  readonly client: TestClient;
  /** The login its jobs belong to. */
  readonly user: string;
  /** SIGKILL, then a new host on the same folder. */
  killAndStart(): Promise<void>;
  send(request: JobRequest, requestId?: string): Promise<MethodResult<'job.submit'>>;
  stopOf(...jobIds: string[]): Promise<MethodResult<'job.stop'>['results']>;
  machine(): Promise<MachineView>;
  /** Takes every core until it is stopped. */
  fillMachine(): Promise<string>;
}

/** Call it at the top of a test file. */
export function sharedHost(): SharedHost {
  let home: Awaited<ReturnType<typeof makeHomeRoot>> | null = null;
  let host: HostProcess | null = null;
  let client: TestClient | null = null;
  let user = '';

  function given<T>(value: T | null): T {
    if (value === null) throw new Error('the host is not started yet');
    return value;
  }

  async function start(): Promise<void> {
    host = await startHostProcess(given(home).root);
    client = await host.connect();
    ({ user } = await client.call('status', {}));
  }

  beforeAll(async () => {
    home = await makeHomeRoot();
    await start();
  });
  afterAll(async () => {
    await host?.shutdown();
    await home?.remove();
  });
  afterEach(async () => {
    const { rows } = await given(client).call('job.list', {
      filter: { states: ['PENDING', 'RUNNING'], rootsOnly: false },
      sort: { key: 'submitted', descending: false },
      offset: 0,
      limit: 500,
    });
    if (rows.length > 0) await stop(given(client), ...rows.map((row) => row.id));
    // A job is over before its processes are gone, and until then they hold what the next test may count on.
    const held = async (): Promise<number> => {
      const { cpuMillicoresTotal, cpuMillicoresFree } = await shared.machine();
      return cpuMillicoresTotal - cpuMillicoresFree;
    };
    await eventually(held).toBe(0);
  });

  const shared: SharedHost = {
    get root() {
      return given(home).root;
    },
    get host() {
      return given(host);
    },
    get client() {
      return given(client);
    },
    get user() {
      return user;
    },
    async killAndStart() {
      await given(host).kill();
      await start();
    },
    send: (request, requestId = randomUUID()) => given(client).call('job.submit', { requestId, request }),
    stopOf: async (...jobIds) =>
      (await given(client).call('job.stop', { requestId: randomUUID(), jobIds })).results,
    async machine() {
      const [found] = (await given(client).call('machine.list', {})).machines;
      if (found === undefined) throw new Error('no machine was reported');
      return found;
    },
    async fillMachine() {
      const { cpuMillicoresTotal } = await shared.machine();
      const jobId = await submit(
        shared.client,
        shell('exec sleep 600', { cpu: cpuMillicoresTotal / 1000, grace: 1 }),
      );
      await running(shared.client, jobId);
      return jobId;
    },
  };
  return shared;
}
