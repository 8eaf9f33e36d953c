import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');
const mantine = path.join(root, 'node_modules', '@mantine', 'core');

/** A part of Mantine without its style sheet is drawn without its looks, which no other test would notice. */
test('the window has the styles of each part of Mantine it uses, and of what these are made of', () => {
  const needed = stylesOf(importedParts());
  const there = new Set(
    [
      ...readFileSync(path.join(root, 'renderer/theme/mantine.css'), 'utf8').matchAll(/styles\/(\w+)\.css/g),
    ].map(([, name = '']) => name),
  );
  // The least that is needed: else a search that finds nothing would pass.
  expect(needed).toContain('Button');
  expect(needed).toContain('Combobox');
  expect(needed.filter((name) => !there.has(name))).toEqual([]);
});

function filesUnder(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => path.join(folder, file));
}

function importedParts(): string[] {
  return filesUnder(path.join(root, 'renderer'), /\.tsx?$/).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(
      ([, names = '']) => names.split(',').map((name) => name.trim()),
    ),
  );
}

/** The style sheets of these parts: those of every component their modules import, however deep. */
function stylesOf(parts: readonly string[]): string[] {
  const components = path.join(mantine, 'esm', 'components');
  const modules = new Map(
    filesUnder(components, /\.mjs$/).map((file) => [path.basename(file, '.mjs'), file] as const),
  );
  const sheets = new Set(
    filesUnder(path.join(mantine, 'styles'), /\.css$/).map((file) => path.basename(file, '.css')),
  );
  const seen = new Set<string>();
  const queue = parts.flatMap((part) => modules.get(part) ?? []);
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/from "(\.[^"]+\.mjs)"/g)) {
      const found = path.join(path.dirname(file), target);
      if (found.startsWith(components)) queue.push(found);
    }
  }
  return [...seen]
    .flatMap((file) => /^(\w+)\.module\.mjs$/.exec(path.basename(file))?.[1] ?? [])
    .filter((name) => sheets.has(name));
}
