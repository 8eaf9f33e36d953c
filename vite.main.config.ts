import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Plugin, defineConfig } from 'vite';

const root = import.meta.dirname;

/** Programs and workers of the main side. Their names in out/main are part of how they find each other. */
const entries = {
  headless: 'main/headless.ts',
  'reader-worker': 'main/store/reader-worker.ts',
  launcher: 'main/backends/workstation/process/launcher.ts',
  askpass: 'main/backends/workstation/ssh/askpass.ts',
  cli: 'main/cli/main.ts',
};

/** Text the main side hands to a shell as a file, beside the code. */
const texts = ['main/backends/workstation/process/supervisor.sh'];

/** A shared folder of a build in progress may lack a file; what is missing is left out and named by scripts/build.mjs. */
export const presentEntries = Object.fromEntries(
  Object.entries(entries).filter(([, file]) => existsSync(join(root, file))),
);

function copyTexts(): Plugin {
  return {
    name: 'iris-copy-texts',
    async generateBundle() {
      for (const text of texts.filter((file) => existsSync(join(root, file)))) {
        const fileName = text.slice(text.lastIndexOf('/') + 1);
        this.emitFile({ type: 'asset', fileName, source: await readFile(join(root, text), 'utf8') });
      }
    },
  };
}

/**
 * dockerode brings an SSH client of its own, which checks no host key, and a gRPC server for image builds. Neither is used: Engines
 * behind SSH are reached through the system's ssh, and nothing is built. Left out, they cost the bundle no 2 MB.
 */
function leaveOut(names: readonly string[]): Plugin {
  const empty = '\0left-out';
  return {
    name: 'iris-leave-out',
    enforce: 'pre',
    resolveId: (id) => (names.includes(id) ? empty : null),
    load: (id) => (id === empty ? 'export class Client {}' : null),
  };
}

const lateSchemas = join(root, 'main/late-schemas.ts');

/** Schemas are made when first used. Whatever imports zod gets that, and may use of it what is there. */
function makeSchemasLate(): Plugin[] {
  const imported = /import \{ z \} from ['"]zod['"]/;
  const known = new Set<string | undefined>();
  return [
    {
      name: 'iris-late-schemas',
      enforce: 'pre',
      resolveId: (id, importer) => (id === 'zod' && importer !== lateSchemas ? lateSchemas : null),
    },
    {
      name: 'iris-known-schemas',
      async buildStart() {
        const text = await readFile(lateSchemas, 'utf8');
        for (const [, name] of text.matchAll(/^ {2}(\w+): (?:waiting\()?real\./gm)) known.add(name);
      },
      // The types are gone by now: what is left is asked for when the program runs.
      transform(code, id) {
        if (id === lateSchemas || !imported.test(code)) return null;
        for (const [, name] of code.matchAll(/\bz\.(\w+)/g))
          if (!known.has(name)) this.error(`${id} uses z.${name}, which main/late-schemas.ts does not have.`);
        return null;
      },
    },
  ];
}

export default defineConfig({
  root,
  publicDir: false,
  logLevel: 'warn',
  plugins: [
    makeSchemasLate(),
    leaveOut(['ssh2', '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs']),
    copyTexts(),
  ],
  // Everything is bundled but the native module and Electron itself, so that an installed irisctl needs no other package.
  ssr: { noExternal: true, external: ['electron', 'better-sqlite3'], target: 'node' },
  build: {
    ssr: true,
    target: 'node20',
    outDir: join(root, 'out/main'),
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    reportCompressedSize: false,
    rolldownOptions: {
      input: presentEntries,
      output: {
        format: 'es',
        entryFileNames: '[name].js',
        // Beside the entries: a relative URL of a worker is right from a shared chunk too.
        chunkFileNames: 'chunk-[name]-[hash].js',
      },
    },
  },
});
