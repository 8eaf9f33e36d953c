/** Unpacking a ZIP archive with Node alone: enough for archives without encryption, ZIP64 or several volumes. */
import {
  closeSync,
  chmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);

/** @param {number} fd @param {number} position @param {number} length */
function readAt(fd, position, length) {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, buffer, done, length - done, position + done);
    if (count === 0) throw new Error('The archive ends too early.');
    done += count;
  }
  return buffer;
}

/**
 * Unpacks the entries `place` gives a path for.
 * @param {string} archive
 * @param {string} folder
 * @param {(name: string) => string | null} place Path below `folder`, or null to leave the entry out.
 * @param {(done: number, all: number) => void} [progress]
 */
export async function unzip(archive, folder, place, progress) {
  const fd = openSync(archive, 'r');
  try {
    const entries = readDirectory(fd);
    for (const [index, entry] of entries.entries()) {
      progress?.(index, entries.length);
      const path = entry.name.endsWith('/') ? null : place(entry.name);
      if (path === null) continue;
      if (path.startsWith('/') || path.split('/').includes('..'))
        throw new Error(`${entry.name} leaves its folder.`);
      const local = readAt(fd, entry.offset, 30);
      const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
      const packed = readAt(fd, start, entry.packedSize);
      if (entry.method !== 0 && entry.method !== 8)
        throw new Error(`${entry.name} is packed in an unknown way.`);
      const content = entry.method === 0 ? packed : await inflate(packed);
      if (content.length !== entry.size) throw new Error(`${entry.name} has not the size the archive tells.`);
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true });
      if ((entry.mode & 0o170000) === 0o120000) {
        symlinkSync(content.toString('utf8'), target);
        continue;
      }
      writeFileSync(target, content);
      if (entry.mode !== 0) chmodSync(target, entry.mode & 0o777);
    }
  } finally {
    closeSync(fd);
  }
}

/** @param {number} fd */
function readDirectory(fd) {
  const size = fstatSync(fd).size;
  const tail = readAt(fd, Math.max(0, size - 65_557), Math.min(size, 65_557));
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0) throw new Error('This is no ZIP archive, or it is cut.');
  const count = tail.readUInt16LE(end + 10);
  const directory = readAt(fd, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  const entries = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (directory.readUInt32LE(at) !== 0x02014b50)
      throw new Error('The directory of the archive is damaged.');
    const nameLength = directory.readUInt16LE(at + 28);
    entries.push({
      method: directory.readUInt16LE(at + 10),
      packedSize: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      mode: directory.readUInt32LE(at + 38) >>> 16,
      offset: directory.readUInt32LE(at + 42),
      name: directory.toString('utf8', at + 46, at + 46 + nameLength),
    });
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}
