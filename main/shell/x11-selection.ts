/** Asks an X server who owns a selection: four small messages of the core protocol, so that no tool needs to be installed. */
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';

export interface X11Display {
  readonly number: number;
  readonly screen: number;
  readonly host: string;
}

/** `:1`, `:1.0`, `host:1`, `unix:1`; null for anything else. */
export function parseDisplay(text: string): X11Display | null {
  const match = /^([^:]*):(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return null;
  return { host: match[1] ?? '', number: Number(match[2]), screen: Number(match[3] ?? 0) };
}

/** Whether the selection has an owner; null when the server cannot be asked. */
export async function hasSelectionOwner(
  selection: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<boolean | null> {
  const display = parseDisplay(env['DISPLAY'] ?? '');
  if (display === null) return null;
  const local = display.host === '' || display.host === 'unix';
  const socket = local
    ? createConnection(`/tmp/.X11-unix/X${display.number}`)
    : createConnection(6000 + display.number, display.host);
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs);
  try {
    const reader = readerOf(socket);
    socket.write(setupRequest(cookieFor(display.number, env)));
    const head = await reader.take(8);
    await reader.take(head.readUInt16LE(6) * 4);
    if (head[0] !== 1) return null;
    socket.write(internAtom(selection));
    const atom = (await reader.reply()).readUInt32LE(8);
    if (atom === 0) return false;
    socket.write(getSelectionOwner(atom));
    return (await reader.reply()).readUInt32LE(8) !== 0;
  } catch {
    return null; // no such display, no permission, no answer in time: not known
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function setupRequest(cookie: Buffer | null): Buffer {
  const name = cookie === null ? Buffer.alloc(0) : Buffer.from('MIT-MAGIC-COOKIE-1');
  const data = cookie ?? Buffer.alloc(0);
  const head = Buffer.alloc(12);
  head.write('l', 0, 'latin1');
  head.writeUInt16LE(11, 2);
  head.writeUInt16LE(name.length, 6);
  head.writeUInt16LE(data.length, 8);
  return Buffer.concat([head, padded(name), padded(data)]);
}

/** With only-if-exists: an atom nobody made names a selection nobody owns. */
function internAtom(name: string): Buffer {
  const text = padded(Buffer.from(name, 'latin1'));
  const head = Buffer.alloc(8);
  head[0] = 16;
  head[1] = 1;
  head.writeUInt16LE(2 + text.length / 4, 2);
  head.writeUInt16LE(Buffer.byteLength(name, 'latin1'), 4);
  return Buffer.concat([head, text]);
}

function getSelectionOwner(atom: number): Buffer {
  const request = Buffer.alloc(8);
  request[0] = 23;
  request.writeUInt16LE(2, 2);
  request.writeUInt32LE(atom, 4);
  return request;
}

function padded(data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)]);
}

/** The cookie of this display from the user's Xauthority file; null when there is none, which some servers accept. */
function cookieFor(displayNumber: number, env: Readonly<Record<string, string | undefined>>): Buffer | null {
  let file: Buffer;
  try {
    file = readFileSync(env['XAUTHORITY'] ?? join(homedir(), '.Xauthority'));
  } catch {
    return null; // servers that trust the user by other means need none
  }
  return findCookie(file, displayNumber, hostname());
}

/** Reads the entries: family, then address, display number, method and data, each with its length (big-endian). */
export function findCookie(file: Buffer, displayNumber: number, host: string): Buffer | null {
  const wildFamily = 0xffff;
  const localFamily = 256;
  let at = 0;
  const field = (): Buffer => {
    const length = file.readUInt16BE(at);
    const data = file.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    return data;
  };
  try {
    while (at + 2 <= file.length) {
      const family = file.readUInt16BE(at);
      at += 2;
      const address = field().toString('latin1');
      const number = field().toString('latin1');
      const method = field().toString('latin1');
      const data = field();
      if (method !== 'MIT-MAGIC-COOKIE-1') continue;
      if (number !== '' && number !== String(displayNumber)) continue;
      if (family === wildFamily || (family === localFamily && address === host)) return data;
    }
  } catch {
    return null; // cut short
  }
  return null;
}

interface Reader {
  take(length: number): Promise<Buffer>;
  /** The next reply of 32 bytes; events before it are skipped, an error rejects. */
  reply(): Promise<Buffer>;
}

function readerOf(socket: Socket): Reader {
  let held = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  let failure: Error | null = null;
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    wake();
  });
  socket.on('error', (error) => {
    failure = error;
    wake();
  });
  socket.on('close', () => {
    failure ??= new Error('closed');
    wake();
  });
  async function take(length: number): Promise<Buffer> {
    while (held.length < length) {
      if (failure !== null) throw failure;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  }
  return {
    take,
    async reply() {
      for (;;) {
        const message = await take(32);
        if (message[0] === 1) return message;
        if (message[0] === 0) throw new Error(`X error ${message[1] ?? 0}`);
      }
    },
  };
}
