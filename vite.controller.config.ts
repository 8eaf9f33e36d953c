import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Plugin, type UserConfig, defineConfig } from 'vite';
import main from './vite.main.config.js';

const root = import.meta.dirname;

/** A first line that names what follows, so that a compiled form of other code is never taken for this one's. */
function nameByContent(): Plugin {
  return {
    name: 'iris-name-by-content',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        chunk.code = `//${createHash('sha256').update(chunk.code).digest('hex')}\n${chunk.code}`;
      }
    },
  };
}

/** Parts of Node that a start does not need, and which would be a tenth of its work: read when first used. */
const lateBuiltins = ['crypto', 'http', 'https', 'zlib', 'dgram'];

function readLate(): Plugin {
  return {
    name: 'iris-read-late',
    renderChunk(code) {
      let late = code;
      for (const name of lateBuiltins) {
        const local = `node_${name}`;
        const there = new RegExp(`\\b(?:let|const|var) ${local} = require\\("node:${name}"\\);`);
        if (!there.test(late)) continue;
        late = late
          .replace(there, '')
          .replaceAll(new RegExp(`\\b${local}\\.`, 'g'), `${local}().`)
          .concat(
            `\nvar ${local}_read; function ${local}() { return ${local}_read ??= require("node:${name}"); }`,
          );
      }
      return late === code ? null : late;
    },
  };
}

/**
 * The database driver's own files, a dozen, in the bundle: finding and reading each is most of what it costs. The native part stays
 * where it is, and is found from there.
 */
function bundleDriver(): Plugin {
  return {
    name: 'iris-bundle-driver',
    transform(code, id) {
      if (!/better-sqlite3[\\/]lib[\\/]binding\.js$/.test(id)) return null;
      return code
        .replaceAll('__dirname', "path.join(__dirname, '..', '..', 'node_modules', 'better-sqlite3', 'lib')")
        .replace(/if \(require\.main === module\) \{[^}]*\}/, '');
    },
  };
}

/**
 * Code whose compiled form is kept, beside the rest of the main side. CommonJS: of a module V8's compiled form cannot be kept. In few
 * large files, without comments and blanks; names stay as they are, for stack traces.
 */
export const cachedCode = (name: string, input: Readonly<Record<string, string>>): UserConfig => ({
  ...main,
  plugins: [...(main.plugins ?? []), bundleDriver(), readLate(), nameByContent()],
  ssr: { ...main.ssr, external: ['electron'] },
  build: {
    ...main.build,
    emptyOutDir: false,
    sourcemap: false,
    rolldownOptions: {
      input: Object.fromEntries(Object.entries(input).map(([entry, file]) => [entry, join(root, file)])),
      output: {
        format: 'cjs',
        entryFileNames: '[name].cjs',
        chunkFileNames: `${name}-[name]-[hash].cjs`,
        minify: { compress: false, mangle: false, codegen: true },
      },
    },
  },
});

/** The controller of the desktop and the worker that runs it. */
export default defineConfig(
  cachedCode('controller', {
    'controller-worker': 'main/controller-worker.ts',
    controller: 'main/controller/worker-code.ts',
  }),
);
