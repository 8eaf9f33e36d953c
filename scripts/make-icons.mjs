/**
 * Draws resources/icons: an iris whose six petals are aperture blades around a round pupil, in two tones, and its tray forms with badges. One
 * geometry gives the SVG and, through a small rasteriser of its own, the PNGs; nothing to install. Run after changing the drawing: `node scripts/make-icons.mjs`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { root } from './lib/paths.mjs';

/** @typedef {[number, number]} Point */
/** @typedef {{points: Point[], color: [number, number, number, number]}} Shape  Coordinates from -1 to 1, y down. */

const folder = join(root, 'resources', 'icons');
const deep = '#4a50c8';
const light = '#8f95ee';
const petals = 6;

/**
 * One blade: between the pupil and a petal's rounded end, its sides running in a spiral as an aperture's do.
 * @param {number} index @param {number} from share of the blade's angle, 0 to 1 @param {number} to
 * @param {{inner: number, outer: number, gap: number, twist: number}} form @returns {Point[]}
 */
function blade(index, from, to, form) {
  const step = (2 * Math.PI) / petals;
  const at = (/** @type {number} */ share, /** @type {number} */ radius) => {
    // A gap of constant width: as an angle it is wider near the pupil.
    const margin = form.gap / 2 / radius;
    const inside = margin + share * (step - 2 * margin);
    const angle = index * step + inside + form.twist * (radius - form.inner) - Math.PI / 2;
    return /** @type {Point} */ ([radius * Math.cos(angle), radius * Math.sin(angle)]);
  };
  const end = (/** @type {number} */ share) =>
    form.inner +
    (form.outer - form.inner) * (0.7 + 0.3 * Math.sqrt(Math.sin(Math.PI * (0.06 + 0.88 * share))));
  const steps = 28;
  const span = Array.from({ length: steps + 1 }, (_, n) => n / steps);
  return [
    ...span.map((n) => at(from, form.inner + (end(from) - form.inner) * n)),
    ...span.map((n) => from + (to - from) * n).map((share) => at(share, end(share))),
    ...span.map((n) => at(to, end(to) - (end(to) - form.inner) * n)),
    ...span.map((n) => to + (from - to) * n).map((share) => at(share, form.inner)),
  ];
}

/** @param {number} x @param {number} y @param {number} radius @returns {Point[]} */
function circle(x, y, radius) {
  return Array.from({ length: 64 }, (_, n) => {
    const angle = (n / 64) * 2 * Math.PI;
    return /** @type {Point} */ ([x + radius * Math.cos(angle), y + radius * Math.sin(angle)]);
  });
}

/** A cross of two bars. @param {number} x @param {number} y @param {number} size @param {number} width @returns {Point[][]} */
function cross(x, y, size, width) {
  return [Math.PI / 4, -Math.PI / 4].map((turn) =>
    [
      [-size, -width],
      [size, -width],
      [size, width],
      [-size, width],
    ].map(([dx = 0, dy = 0]) => [
      x + dx * Math.cos(turn) - dy * Math.sin(turn),
      y + dx * Math.sin(turn) + dy * Math.cos(turn),
    ]),
  );
}

/** @param {string} hex @param {number} [alpha] @returns {Shape['color']} */
function color(hex, alpha = 1) {
  const number = Number.parseInt(hex.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255, alpha];
}

/** @param {{dark: string, bright: string, gap: number, pupil: number}} look @returns {Shape[]} */
function iris(look) {
  const form = { inner: look.pupil + 0.1 + look.gap / 3, outer: 0.98, gap: look.gap, twist: 0.75 };
  const shapes = [];
  for (let index = 0; index < petals; index++) {
    shapes.push({ points: blade(index, 0, 1, form), color: color(look.bright) });
    if (look.dark !== look.bright)
      shapes.push({ points: blade(index, 0, 0.52, form), color: color(look.dark) });
  }
  shapes.push({ points: circle(0, 0, look.pupil), color: color(look.dark) });
  return shapes;
}

/**
 * Shapes drawn one over another, each pixel from 64 samples; `erase` shapes make what is below transparent.
 * @param {(Shape & {erase?: boolean})[]} shapes @param {number} size
 */
function rasterise(shapes, size) {
  const samples = 8;
  const wide = size * samples;
  const grid = new Float32Array(wide * wide * 4);
  for (const shape of shapes) {
    const points = shape.points.map(([x, y]) => [((x + 1) / 2) * wide, ((y + 1) / 2) * wide]);
    for (let row = 0; row < wide; row++) {
      const y = row + 0.5;
      const crossings = [];
      for (let n = 0; n < points.length; n++) {
        const [x1 = 0, y1 = 0] = points[n] ?? [];
        const [x2 = 0, y2 = 0] = points[(n + 1) % points.length] ?? [];
        if (y1 <= y !== y2 <= y) crossings.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1));
      }
      crossings.sort((left, right) => left - right);
      for (let n = 0; n + 1 < crossings.length; n += 2) {
        const first = Math.max(0, Math.ceil((crossings[n] ?? 0) - 0.5));
        const last = Math.min(wide - 1, Math.ceil((crossings[n + 1] ?? 0) - 0.5) - 1);
        for (let column = first; column <= last; column++) {
          grid.set(shape.erase === true ? [0, 0, 0, 0] : shape.color, (row * wide + column) * 4);
        }
      }
    }
  }
  const pixels = Buffer.alloc(size * size * 4);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const sum = [0, 0, 0, 0];
      for (let n = 0; n < samples * samples; n++) {
        const at = ((row * samples + Math.floor(n / samples)) * wide + column * samples + (n % samples)) * 4;
        const alpha = grid[at + 3] ?? 0;
        for (let part = 0; part < 3; part++) sum[part] = (sum[part] ?? 0) + (grid[at + part] ?? 0) * alpha;
        sum[3] = (sum[3] ?? 0) + alpha;
      }
      const alpha = sum[3] ?? 0;
      const place = (row * size + column) * 4;
      for (let part = 0; part < 3; part++)
        pixels[place + part] = alpha === 0 ? 0 : Math.round((sum[part] ?? 0) / alpha);
      pixels[place + 3] = Math.round((alpha / (samples * samples)) * 255);
    }
  }
  return pixels;
}

/** @param {Buffer} pixels @param {number} size */
function png(pixels, size) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let row = 0; row < size; row++)
    pixels.copy(rows, row * (size * 4 + 1) + 1, row * size * 4, (row + 1) * size * 4);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc(body));
  return Buffer.concat([head, body, tail]);
}

/** @param {Buffer} data */
function crc(data) {
  let value = 0xffffffff;
  for (const byte of data) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return (value ^ 0xffffffff) >>> 0;
}

/** @param {Shape[]} shapes */
function svg(shapes) {
  const paths = shapes.map(({ points, color: [r, g, b] }) => {
    const line = points
      .map(([x, y]) => `${(256 + x * 256).toFixed(1)} ${(256 + y * 256).toFixed(1)}`)
      .join('L');
    const fill = `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
    return `  <path fill="${fill}" d="M${line}Z"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">\n  <title>Iris Desktop</title>\n${paths.join('\n')}\n</svg>\n`;
}

/** @param {'running' | 'failed'} kind @param {number} x @param {number} y @param {boolean} oneColor */
function badge(kind, x, y, oneColor) {
  const radius = 0.4;
  const fill = oneColor ? '#000000' : kind === 'running' ? '#2f7fe0' : '#d93a30';
  const mark = kind === 'failed' ? cross(x, y, 0.2, 0.07) : [];
  return [
    { points: circle(x, y, radius + 0.12), color: color('#000000'), erase: true },
    { points: circle(x, y, radius), color: color(fill) },
    // In one colour a badge is told by what is cut out of it: nothing for running, a cross for failed.
    ...mark.map((points) => ({ points, color: color('#ffffff'), erase: oneColor })),
  ];
}

/** @type {Record<string, ('running' | 'failed')[]>} */
const trayStates = {
  idle: [],
  running: ['running'],
  failed: ['failed'],
  'running-failed': ['running', 'failed'],
  off: [],
};

mkdirSync(folder, { recursive: true });
const app = iris({ dark: deep, bright: light, gap: 0.05, pupil: 0.2 });
writeFileSync(join(folder, 'icon.svg'), svg(app));
for (const size of [16, 24, 32, 48, 64, 128, 256, 512, 1024]) {
  const shapes = size <= 32 ? iris({ dark: deep, bright: light, gap: 0.11, pupil: 0.2 }) : app;
  writeFileSync(join(folder, `icon-${size}.png`), png(rasterise(shapes, size), size));
}
for (const [state, badges] of Object.entries(trayStates)) {
  for (const oneColor of [false, true]) {
    // One mid tone on Linux and Windows, readable on dark and light panels; black on macOS, which colours it itself.
    const tone = oneColor ? '#000000' : state === 'off' ? '#8a8d96' : '#7d84ea';
    const shapes = [
      ...iris({ dark: tone, bright: tone, gap: 0.15, pupil: 0.2 }),
      ...badges.flatMap((kind) =>
        badge(kind, kind === 'running' ? 0.56 : badges.length > 1 ? -0.56 : 0.56, 0.56, oneColor),
      ),
    ];
    const name = `tray-${state}${oneColor ? 'Template' : ''}`;
    const size = oneColor ? 16 : 24;
    writeFileSync(join(folder, `${name}.png`), png(rasterise(shapes, size), size));
    writeFileSync(join(folder, `${name}@2x.png`), png(rasterise(shapes, size * 2), size * 2));
  }
}
process.stdout.write(`Icons written to ${folder}\n`);
