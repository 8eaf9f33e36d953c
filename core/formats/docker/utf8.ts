/** Bytes to text in pieces: a letter cut between two pieces is put together, what is no letter becomes U+FFFD. */

const unknown = '�';

export class Utf8Reader {
  private code = 0;
  private needed = 0;
  private least = 0;

  push(bytes: Uint8Array): string {
    const parts: string[] = [];
    let plain = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.needed === 0 && byte < 0x80) continue;
      if (at > plain) parts.push(ascii(bytes, plain, at));
      parts.push(this.take(byte));
      plain = at + 1;
    }
    if (plain < bytes.length) parts.push(ascii(bytes, plain, bytes.length));
    return parts.join('');
  }

  /** What a cut letter at the very end is shown as. */
  end(): string {
    const cut = this.needed > 0;
    this.needed = 0;
    return cut ? unknown : '';
  }

  private take(byte: number): string {
    if (this.needed > 0) {
      if ((byte & 0xc0) === 0x80) {
        this.code = (this.code << 6) | (byte & 0x3f);
        this.needed -= 1;
        return this.needed > 0 ? '' : this.letter();
      }
      this.needed = 0;
      return unknown + this.take(byte);
    }
    if (byte < 0x80) return String.fromCharCode(byte);
    if (byte >= 0xc2 && byte <= 0xdf) return this.begin(byte & 0x1f, 1, 0x80);
    if (byte >= 0xe0 && byte <= 0xef) return this.begin(byte & 0x0f, 2, 0x800);
    if (byte >= 0xf0 && byte <= 0xf4) return this.begin(byte & 0x07, 3, 0x10000);
    return unknown;
  }

  private begin(bits: number, more: number, least: number): string {
    this.code = bits;
    this.needed = more;
    this.least = least;
    return '';
  }

  private letter(): string {
    const { code } = this;
    const right = code >= this.least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return right ? String.fromCodePoint(code) : unknown;
  }
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  // In pieces: a call takes only so many arguments.
  for (let at = from; at < to; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, Math.min(to, at + 8192)));
  }
  return text;
}
