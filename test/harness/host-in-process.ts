/** A whole host in the test's own process, with the backend a test gives it, reached through its socket as irisctl does. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Backend } from '../../main/backends/backend.js';
import { startHost, type Host } from '../../main/controller/host.js';
import type { BackendPatience } from '../../main/controller/guarded-backend.js';
import { resolveHome, type Home } from '../../main/home.js';
import { connectClient, type TestClient } from './client.js';
import { makeHomeRoot } from './host-process.js';

export interface HostInProcess {
  readonly home: Home;
  readonly host: Host;
  readonly client: TestClient;
  /** Messages of the host's log with what goes with them, oldest first. */
  log(): readonly Readonly<Record<string, unknown>>[];
  dispose(): Promise<void>;
}

export async function hostWith(backend: Backend, backendPatience: BackendPatience): Promise<HostInProcess> {
  const { root, remove } = await makeHomeRoot();
  const home = resolveHome({ flag: root });
  const host = await startHost({
    home,
    hostKind: 'headless',
    appVersion: '0.0.0-test',
    runtime: 'a test',
    makeBackend: () => backend,
    backendPatience,
  });
  const client = await connectClient(home.socket);
  return {
    home,
    host,
    client,
    log: () =>
      readFileSync(path.join(home.logs, 'host-headless.log'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    dispose: async () => {
      client.close();
      await host.stop('the test is over');
      await remove();
    },
  };
}
