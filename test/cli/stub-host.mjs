/** Stands in for a headless host: greets whoever connects. What it shall do comes through the environment. */
import { appendFileSync, existsSync, openSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const home = process.argv[process.argv.indexOf('--home') + 1] ?? '';
const { STUB_SOCKET: socket = '', STUB_MODE: mode = 'serve' } = process.env;
const starts = path.join(home, 'starts');
appendFileSync(starts, `${process.pid}\n`);

if (mode === 'fail') {
  process.stderr.write('The database was written by a newer version.\n');
  process.exit(125);
}
// The folder is somebody's: another's of these, or in this mode a host's that is just leaving as the first one starts.
if (
  (mode.startsWith('lose-first') && readFileSync(starts, 'utf8').trim().split('\n').length === 1) ||
  !takeFolder()
) {
  process.stderr.write(`The data folder ${home} is in use by another host. Attach to it.\n`);
  process.exit(125);
}

const server = net.createServer((connection) => {
  connection.on('data', (data) => {
    for (const line of data.toString().trim().split('\n')) {
      const value = { host: 'headless', pid: process.pid, clusterName: 'local', home };
      connection.write(`${JSON.stringify({ kind: 'result', id: JSON.parse(line).id, value })}\n`);
    }
  });
  connection.on('error', () => undefined);
});
// Holds the folder and is never heard of.
if (mode === 'lose-first-hang') setInterval(() => undefined, 60_000);
// All it needs has to be read from a slow disk first.
else if (mode === 'slow') {
  const timer = setInterval(() => {
    if (!existsSync(path.join(home, 'go'))) return;
    clearInterval(timer);
    server.listen(socket);
  }, 20);
} else server.listen(socket);

function takeFolder() {
  try {
    openSync(path.join(home, 'lock'), 'wx');
    return true;
  } catch {
    return false;
  }
}
