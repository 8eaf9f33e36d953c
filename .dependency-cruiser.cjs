/**
 * The import laws. Decisions (core) know nothing of effects (main) or the window (renderer); each effect has one room that may
 * touch the package for it. scripts/import-rooms.json classifies every third-party package by the rooms that may import
 * it: one that is not in that table may be imported nowhere, so a new dependency is a decision.
 */
const tests = '\\.test\\.tsx?$';

/** Rooms as patterns of the paths that may import a package. */
const rooms = {
  core: '^core/',
  main: '^main/',
  store: '^main/store/',
  electron: '^main/(shell|ipc|preload)/|^main/desktop\\.ts$',
  renderer: '^renderer/',
};

/** Which rooms may import a package; tests may import any. Tools are for tests and configurations alone. */
const { packages, tools } = require('./scripts/import-rooms.json');

const escape = (name) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
/** Paths of a package, or of the types written for it. */
const pathOf = (name) => {
  const types = name.startsWith('@') ? name.slice(1).replace('/', '__') : name;
  return `node_modules/(${escape(name)}|@types/${escape(types)})/`;
};

const packageRules = Object.entries(packages).map(([name, allowed]) => ({
  name: `${name}-only-in-its-room`,
  comment: `${name} may be imported by: ${allowed.join(', ')}.`,
  severity: 'error',
  from: { pathNot: [...allowed.map((room) => rooms[room]), '^test/', tests] },
  to: { path: pathOf(name) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...packageRules,
    {
      name: 'package-not-classified',
      comment: 'Add the package to scripts/import-rooms.json, with the rooms that may import it.',
      severity: 'error',
      from: { path: '^(core|main|renderer|test)/' },
      to: {
        path: 'node_modules/',
        pathNot: [...Object.keys(packages), ...tools, 'undici-types']
          .map(pathOf)
          .concat('node_modules/@types/node/'),
      },
    },
    {
      name: 'tools-only-in-tests',
      comment: 'What builds and tests the product is no part of it.',
      severity: 'error',
      from: { path: '^(core|main|renderer)/', pathNot: tests },
      to: {
        path: tools.map(pathOf),
        // vite/client and vitest types describe ambient things of a folder.
        dependencyTypesNot: ['triple-slash-type-reference'],
      },
    },
    {
      name: 'core-imports-only-core',
      comment: 'Decisions depend on no effect and no view.',
      severity: 'error',
      from: { path: '^core/' },
      to: { path: '^(main|renderer|scripts|resources|examples)/' },
    },
    {
      name: 'core-without-node',
      comment: 'core runs in the window as well and stays free of effects.',
      severity: 'error',
      from: { path: '^core/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'main-not-the-window',
      comment: 'The main side and the window meet in core/contract.',
      severity: 'error',
      from: { path: '^main/' },
      to: { path: '^(renderer|scripts|resources|examples)/' },
    },
    {
      name: 'renderer-only-contract-and-formats',
      comment: 'The window knows what crosses the boundary and how values are written, nothing else.',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^(core|main|scripts|resources|examples)/', pathNot: '^core/(contract|formats)/' },
    },
    {
      name: 'renderer-without-node',
      comment: 'The window is sandboxed: there is no Node in it.',
      severity: 'error',
      from: { path: '^renderer/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'preload-only-contract',
      comment: 'The preload is the smallest bridge there can be.',
      severity: 'error',
      from: { path: '^main/preload/', pathNot: tests },
      to: {
        path: '^(core|main)/',
        pathNot: '^core/(contract|formats)/|^main/preload/|^main/ipc/channels\\.ts$',
      },
    },
    {
      name: 'preload-without-node',
      comment: 'A sandboxed preload can require Electron and nothing else.',
      severity: 'error',
      from: { path: '^main/preload/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'backends-not-store-or-controller',
      comment: 'Backends run tasks and report; they never touch the database.',
      severity: 'error',
      from: { path: '^main/backends/', pathNot: tests },
      to: { path: '^main/(store|controller)/' },
    },
    {
      name: 'controller-free-of-electron',
      comment: 'The same controller runs in plain Node: nothing it reaches may need Electron.',
      severity: 'error',
      from: {
        path: '^main/(controller-worker|headless|headless-host)\\.ts$|^main/(controller|store|backends|machine|logs|server|cli)/',
      },
      to: { path: `${rooms.electron}|${pathOf('electron')}`, reachable: true },
    },
    {
      name: 'nothing-imports-test',
      comment: 'Tests import the product, never the other way round.',
      severity: 'error',
      from: { path: '^(core|main|renderer|scripts)/', pathNot: tests },
      to: { path: `^test/|${tests}` },
    },
    {
      name: 'no-circle',
      comment: 'Two files that need each other are one file, or hide a third.',
      severity: 'error',
      from: { path: '^(core|main|renderer)/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'What is imported must be there.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(out|dist|\\.runtime)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
