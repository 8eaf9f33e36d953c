/** As much of a PNG as tells a picture of something from an empty one. */
import { inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** @param {Buffer} file @returns {{width: number, height: number, distinctColours: number} | null} null when it is no PNG */
export function readPng(file) {
  if (!file.subarray(0, 8).equals(signature)) return null;
  /** @type {Buffer[]} */
  const data = [];
  let header = null;
  let ended = false;
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR')
      header = { width: body.readUInt32BE(0), height: body.readUInt32BE(4), depth: body[8], kind: body[9] };
    if (type === 'IDAT') data.push(body);
    if (type === 'IEND') ended = true;
    at += 12 + length;
  }
  if (header === null || !ended) return null;
  const { width, height, depth, kind } = header;
  const channels = kind === 6 ? 4 : kind === 2 ? 3 : 0;
  if (depth !== 8 || channels === 0) return { width, height, distinctColours: 0 };
  return {
    width,
    height,
    distinctColours: countColours(inflateSync(Buffer.concat(data)), width, height, channels),
  };
}

/** @param {Buffer} raw @param {number} width @param {number} height @param {number} channels */
function countColours(raw, width, height, channels) {
  const stride = width * channels;
  const colours = new Set();
  let above = Buffer.alloc(stride);
  for (let row = 0; row < height; row += 1) {
    const start = row * (stride + 1);
    const filter = raw[start] ?? 0;
    const line = Buffer.from(raw.subarray(start + 1, start + 1 + stride));
    for (let index = 0; index < stride; index += 1) {
      const left = index >= channels ? (line[index - channels] ?? 0) : 0;
      const up = above[index] ?? 0;
      const corner = index >= channels ? (above[index - channels] ?? 0) : 0;
      line[index] = (line[index] ?? 0) + predict(filter, left, up, corner);
    }
    for (let pixel = 0; pixel < width; pixel += 1) {
      colours.add(line.readUIntBE(pixel * channels, 3));
      if (colours.size > 1000) return colours.size;
    }
    above = line;
  }
  return colours.size;
}

/** The filters of the PNG specification, section 9.2. @param {number} filter @param {number} left @param {number} up @param {number} corner */
function predict(filter, left, up, corner) {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const base = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(base - left), Math.abs(base - up), Math.abs(base - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
