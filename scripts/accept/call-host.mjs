/** One method of the host of a data folder, for what irisctl has no command for. */
import { readFileSync, readdirSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';

/** @param {string} home @param {string} method @param {unknown} params @returns {Promise<unknown>} */
export function callHost(home, method, params) {
  const machine = readdirSync(home).find((name) => name.startsWith('machine-')) ?? '';
  const constants = readFileSync(join(root, 'core', 'contract', 'constants.ts'), 'utf8');
  const contractVersion = Number(/contractVersion = (\d+)/.exec(constants)?.[1]);
  return new Promise((resolve, reject) => {
    const socket = net.connect(join(home, machine, 'iris.sock'));
    socket.setEncoding('utf8');
    socket.on('error', reject);
    const call = (/** @type {number} */ id, /** @type {string} */ name, /** @type {unknown} */ input) =>
      socket.write(`${JSON.stringify({ kind: 'call', id, method: name, params: input })}\n`);
    call(1, 'hello', { contractVersion, client: 'accept' });
    call(2, method, params);
    let text = '';
    socket.on('data', (data) => {
      text += data;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const frame = JSON.parse(line);
        if (frame.kind === 'refused') reject(new Error(frame.refusal.message));
        else if (frame.id === 2) resolve(frame.value);
        if (frame.kind === 'refused' || frame.id === 2) socket.end();
      }
    });
  });
}
