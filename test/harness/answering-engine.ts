/** Our client of an Engine that answers as a test says. */
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { Engine } from '../../main/backends/workstation/docker/engine.js';

export interface AnsweringEngine {
  readonly engine: Engine;
  /** Ends its connections too. */
  close(): Promise<void>;
}

/** It listens in this folder. */
export async function answeringEngine(
  folder: string,
  answer: (url: URL, response: http.ServerResponse) => void,
): Promise<AnsweringEngine> {
  const socket = path.join(folder, 'docker.sock');
  const server = http.createServer((request, response) => {
    answer(new URL(request.url ?? '/', 'http://docker'), response);
  });
  server.listen(socket);
  await once(server, 'listening');
  const engine = new Engine({
    find: () => ({ ok: true, endpoint: { kind: 'socket', path: socket }, from: 'the test' }),
    onState: () => undefined,
  });
  return {
    engine,
    async close() {
      engine.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
