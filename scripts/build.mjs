/** `npm run build`: the three bundles, whether they are due or not. Dependencies must be installed. */
import { absentBundles, buildBundles } from './prepare/bundle.mjs';
import { UserError, say } from './lib/step.mjs';

const names = process.argv.slice(2).filter((name) => !name.startsWith('-'));
const absent = absentBundles();
for (const name of absent) say(`Not built: ${name} (its source is not there).`);
const started = Date.now();
const wanted = names.length > 0 ? names : ['main', 'preload', 'renderer'];
try {
  await buildBundles(
    wanted.filter((name) => !absent.includes(name)),
    (name) => say(`Building ${name}`),
  );
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  say(error.message);
  process.exit(1);
}
say(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
