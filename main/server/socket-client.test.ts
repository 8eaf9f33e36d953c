import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { connectSocket } from './socket-client.js';

test('a host that has ended is gone at once, whatever was on its way to it', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-socket-'));
  let theirs: net.Socket | null = null;
  // Reads nothing, and ends its own half alone.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    theirs = socket.pause();
    socket.end('{"kind":"last"}\n');
  });
  try {
    const file = path.join(folder, 'socket');
    await new Promise<void>((resolve) => server.listen(file, resolve));
    const heard: unknown[] = [];
    let gone: unknown = null;
    const connection = await connectSocket(
      file,
      (frame) => heard.push(frame),
      (reason) => (gone = reason),
    );
    const send = () =>
      connection.send({ kind: 'call', id: 1, method: 'status', params: { text: 'x'.repeat(1 << 20) } });
    for (let turn = 0; gone === null && turn < 100; turn += 1) {
      send();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(gone).toMatchObject({ code: 'DISCONNECTED', message: 'The connection to the controller ended.' });
    expect(heard).toEqual([{ kind: 'last' }]);
    send();
  } finally {
    (theirs as net.Socket | null)?.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  }
});
