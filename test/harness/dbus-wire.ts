/** Values as D-Bus writes them: little-endian, each aligned to its size, by signature. */

/** An array of dictionary entries is a list of pairs; a variant is `{ signature, value }` when written and its bare value when read. */
export type DbusValue = unknown;

export interface Variant {
  readonly signature: string;
  readonly value: DbusValue;
}

export const variant = (signature: string, value: DbusValue): Variant => ({ signature, value });

const alignments: Readonly<Record<string, number>> = {
  y: 1,
  g: 1,
  v: 1,
  n: 2,
  q: 2,
  b: 4,
  i: 4,
  u: 4,
  s: 4,
  o: 4,
  a: 4,
  h: 4,
  x: 8,
  t: 8,
  d: 8,
  '(': 8,
  '{': 8,
};

/** The complete types a signature is made of: `ia{sv}av` is `i`, `a{sv}`, `av`. */
export function splitSignature(signature: string): readonly string[] {
  const parts: string[] = [];
  let rest = signature;
  while (rest !== '') {
    const length = typeLength(rest);
    parts.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return parts;
}

function typeLength(signature: string): number {
  const first = signature.charAt(0);
  if (first === 'a') return 1 + typeLength(signature.slice(1));
  if (first !== '(' && first !== '{') return 1;
  let depth = 0;
  for (let at = 0; at < signature.length; at += 1) {
    if ('({'.includes(signature.charAt(at))) depth += 1;
    if (')}'.includes(signature.charAt(at))) depth -= 1;
    if (depth === 0) return at + 1;
  }
  throw new Error(`${signature} is not closed`);
}

export class DbusWriter {
  private bytes = Buffer.alloc(0);

  align(to: number): void {
    const missing = (to - (this.bytes.length % to)) % to;
    if (missing > 0) this.append(Buffer.alloc(missing));
  }

  values(signature: string, values: readonly DbusValue[]): void {
    splitSignature(signature).forEach((type, index) => this.value(type, values[index]));
  }

  value(type: string, value: DbusValue): void {
    const first = type.charAt(0);
    this.align(alignments[first] ?? 1);
    if (first === 'y') this.append(Buffer.from([Number(value)]));
    else if (first === 'b' || first === 'u' || first === 'i') this.append(uint32(Number(value)));
    else if (first === 's' || first === 'o') {
      const text = Buffer.from(String(value));
      this.append(uint32(text.length), text, Buffer.from([0]));
    } else if (first === 'g') {
      const text = Buffer.from(String(value));
      this.append(Buffer.from([text.length]), text, Buffer.from([0]));
    } else if (first === 'v') {
      const { signature, value: inner } = value as Variant;
      this.value('g', signature);
      this.value(signature, inner);
    } else if (first === 'a') {
      const element = type.slice(1);
      const lengthAt = this.bytes.length;
      this.append(uint32(0));
      this.align(alignments[element.charAt(0)] ?? 1);
      const start = this.bytes.length;
      for (const item of value as readonly DbusValue[]) this.value(element, item);
      this.bytes.writeUInt32LE(this.bytes.length - start, lengthAt);
    } else if (first === '(' || first === '{') {
      this.values(type.slice(1, -1), value as readonly DbusValue[]);
    } else throw new Error(`writing ${type} is not needed yet`);
  }

  take(): Buffer {
    return this.bytes;
  }

  private append(...parts: readonly Buffer[]): void {
    this.bytes = Buffer.concat([this.bytes, ...parts]);
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

export class DbusReader {
  constructor(
    private readonly bytes: Buffer,
    private at = 0,
  ) {}

  get position(): number {
    return this.at;
  }

  align(to: number): void {
    this.at += (to - (this.at % to)) % to;
  }

  values(signature: string): DbusValue[] {
    return splitSignature(signature).map((type) => this.value(type));
  }

  value(type: string): DbusValue {
    const first = type.charAt(0);
    const size = alignments[first] ?? 1;
    this.align(size);
    const start = this.at;
    switch (first) {
      case 'y':
        this.at += 1;
        return this.bytes.readUInt8(start);
      case 'n':
      case 'q':
        this.at += 2;
        return this.bytes.readUInt16LE(start);
      case 'b':
        this.at += 4;
        return this.bytes.readUInt32LE(start) !== 0;
      case 'i':
        this.at += 4;
        return this.bytes.readInt32LE(start);
      case 'u':
      case 'h':
        this.at += 4;
        return this.bytes.readUInt32LE(start);
      case 'x':
      case 't':
        this.at += 8;
        return this.bytes.readBigUInt64LE(start);
      case 'd':
        this.at += 8;
        return this.bytes.readDoubleLE(start);
      case 's':
      case 'o':
        return this.text(this.number());
      case 'g':
        this.at += 1;
        return this.text(this.bytes.readUInt8(start));
      case 'v':
        return this.value(String(this.value('g')));
      case 'a': {
        const element = type.slice(1);
        const length = this.number();
        this.align(alignments[element.charAt(0)] ?? 1);
        const end = this.at + length;
        const items: DbusValue[] = [];
        while (this.at < end) items.push(this.value(element));
        return items;
      }
      case '(':
      case '{':
        return this.values(type.slice(1, -1));
      default:
        throw new Error(`${type} is no type of D-Bus`);
    }
  }

  private number(): number {
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }

  private text(length: number): string {
    const text = this.bytes.toString('utf8', this.at, this.at + length);
    this.at += length + 1;
    return text;
  }
}
