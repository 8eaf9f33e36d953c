/** `npm run build`: the three bundles, whether they are due or not. Dependencies must be installed. */
import { absentBundles, buildBundles } from './prepare/bundle.mjs';
import { say } from './lib/step.mjs';

const names = process.argv.slice(2).filter((name) => !name.startsWith('-'));
const absent = absentBundles();
for (const name of absent) say(`Not built: ${name} (its source is not there).`);
const started = Date.now();
await buildBundles(
  (names.length > 0 ? names : ['main', 'preload', 'renderer']).filter((name) => !absent.includes(name)),
  (name) => say(`Building ${name}`),
);
say(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
