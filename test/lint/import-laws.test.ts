import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '..', '..');
const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

/** Each file breaks the rule it is listed under, and no other file breaks it. */
const violations: readonly (readonly [rule: string, file: string, text: string])[] = [
  ['core-imports-only-core', 'core/model/a.ts', "export { m } from '../../main/machine/m.js';"],
  ['core-without-node', 'core/model/b.ts', "import 'node:fs';"],
  ['main-not-the-window', 'main/controller/a.ts', "export { r } from '../../renderer/r.js';"],
  ['renderer-only-contract-and-formats', 'renderer/a.ts', "export { m } from '../core/model/m.js';"],
  [
    'renderer-only-contract-and-formats',
    'renderer/b.ts',
    "import type { M } from '../main/machine/m.js';\nexport type N = M;",
  ],
  ['renderer-without-node', 'renderer/c.ts', "import 'node:path';"],
  ['preload-only-contract', 'main/preload/a.ts', "export { m } from '../machine/m.js';"],
  ['preload-without-node', 'main/preload/b.ts', "import 'node:fs';"],
  ['backends-not-store-or-controller', 'main/backends/slurm/a.ts', "export { s } from '../../store/s.js';"],
  [
    'backends-not-store-or-controller',
    'main/backends/slurm/b.ts',
    "import type { S } from '../../store/s.js';\nexport type T = S;",
  ],
  [
    'electron-only-in-its-room',
    'main/machine/a.ts',
    "import { app } from 'electron';\nexport const a = app;",
  ],
  [
    'better-sqlite3-only-in-its-room',
    'main/logs/a.ts',
    "import Database from 'better-sqlite3';\nexport const a = Database;",
  ],
  [
    'react-only-in-its-room',
    'main/shell/a.ts',
    "import { useState } from 'react';\nexport const a = useState;",
  ],
  ['tools-only-in-tests', 'main/machine/b.ts', "import { build } from 'vite';\nexport const b = build;"],
  ['package-not-classified', 'main/machine/c.ts', "import { parse } from 'acorn';\nexport const c = parse;"],
  ['controller-free-of-electron', 'main/server/a.ts', "export { w } from '../shell/w.js';"],
  ['nothing-imports-test', 'main/machine/d.ts', "export { t } from '../../test/harness/t.js';"],
  ['no-circle', 'core/model/circle-a.ts', "import { b } from './circle-b.js';\nexport const a = () => b;"],
  ['not-to-unresolvable', 'main/machine/e.ts', "import './not-there.js';"],
];

const allowed: Readonly<Record<string, string>> = {
  'core/model/m.ts': "import { z } from 'zod';\nexport type M = string;\nexport const m = z.string();",
  'core/model/circle-b.ts': "import { a } from './circle-a.js';\nexport const b = () => a;",
  'core/contract/c.ts': "export { m } from '../model/m.js';",
  'main/machine/m.ts':
    "import { readFile } from 'node:fs/promises';\nexport type M = string;\nexport const m = readFile;",
  'main/store/s.ts':
    "import Database from 'better-sqlite3';\nexport type S = string;\nexport const s = Database;",
  'main/shell/w.ts': "import { app } from 'electron';\nexport const w = app;",
  'main/preload/p.ts':
    "import { ipcRenderer } from 'electron';\nexport { m } from '../../core/contract/c.js';\nexport const p = ipcRenderer;",
  'main/desktop.ts':
    "import { app } from 'electron';\nexport { w } from './shell/w.js';\nexport const d = app;",
  'renderer/r.ts':
    "import { useState } from 'react';\nexport { m } from '../core/contract/c.js';\nexport const r = useState;",
  'test/harness/t.ts':
    "import { build } from 'vite';\nexport { s } from '../../main/store/s.js';\nexport const t = build;",
};

const reportSchema = z.object({
  summary: z.object({
    violations: z.array(
      z.object({ from: z.string(), rule: z.object({ name: z.string(), severity: z.string() }) }),
    ),
  }),
});
type Violation = z.infer<typeof reportSchema>['summary']['violations'][number];

let folder = '';
let found: readonly Violation[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'iris-laws-'));
  const files = [...violations.map(([, file, text]) => [file, text] as const), ...Object.entries(allowed)];
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), await readFile(join(root, 'package.json')));
  await writeFile(join(folder, 'tsconfig.base.json'), await readFile(join(root, 'tsconfig.base.json')));
  const config = join(root, '.dependency-cruiser.cjs');
  const args = [cruiser, '--config', config, '--output-type', 'json', 'core', 'main', 'renderer', 'test'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  found = reportSchema.parse(JSON.parse(stdout)).summary.violations;
}, 60_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it.each(violations)('%s stops %s', (rule, file) => {
  const names = found.filter((violation) => violation.from === file && violation.rule.severity === 'error');
  expect(names.map((violation) => violation.rule.name)).toContain(rule);
});

it('lets every import through that the laws allow', () => {
  const blamed = found.filter(({ from, rule }) => from in allowed && rule.name !== 'no-circle');
  expect(blamed).toEqual([]);
});

it('every dependency in package.json is classified', async () => {
  const manifestSchema = z.object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  });
  const roomsSchema = z.object({
    packages: z.record(z.string(), z.array(z.string())),
    tools: z.array(z.string()),
  });
  const manifest = manifestSchema.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const rooms = roomsSchema.parse(
    JSON.parse(await readFile(join(root, 'scripts/import-rooms.json'), 'utf8')),
  );
  const classified = [...Object.keys(rooms.packages), ...rooms.tools];
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  const typesOfClassified = (name: string) => classified.includes(name.replace(/^@types\//, ''));
  expect(declared.filter((name) => !classified.includes(name) && !typesOfClassified(name))).toEqual([]);
});
