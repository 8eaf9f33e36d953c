/**
 * SHA-256 of a text without Node's cryptography, which reads some thirty files of Node's own and is not needed for anything else until the
 * first job: half of what names a data folder would cost. For names alone, not for secrets.
 */

const roots = (count: number, power: number): number[] => {
  const found: number[] = [];
  for (let n = 2; found.length < count; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n && prime; d += 1) prime = n % d !== 0;
    // The first 32 bits of the fraction.
    if (prime) found.push(((n ** power % 1) * 2 ** 32) | 0);
  }
  return found;
};

const start = roots(8, 1 / 2);
const rounds = roots(64, 1 / 3);

/** In hex. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const blocks = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
  new Uint8Array(blocks.buffer).set(bytes);
  blocks.setUint8(bytes.length, 0x80);
  blocks.setBigUint64(blocks.byteLength - 8, BigInt(bytes.length) * 8n);
  const hash = Int32Array.from(start);
  for (let at = 0; at < blocks.byteLength; at += 64) addBlock(hash, blocks, at);
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function addBlock(hash: Int32Array, blocks: DataView, at: number): void {
  const words = new Int32Array(64);
  const word = (index: number) => words[index] ?? 0;
  for (let i = 0; i < 16; i += 1) words[i] = blocks.getInt32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const near = word(i - 2);
    const far = word(i - 15);
    words[i] =
      word(i - 16) +
      word(i - 7) +
      (turn(far, 7) ^ turn(far, 18) ^ (far >>> 3)) +
      (turn(near, 17) ^ turn(near, 19) ^ (near >>> 10));
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let i = 0; i < 64; i += 1) {
    const first =
      h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (rounds[i] ?? 0) + word(i);
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries())
    hash[index] = ((hash[index] ?? 0) + value) | 0;
}

const turn = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));
