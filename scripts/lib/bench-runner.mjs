/** Runs one bundled bench file in a process of its own and hands its figures to scripts/bench.mjs. */
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

const [bundle = ''] = process.argv.slice(2);
const send = (/** @type {unknown} */ message) =>
  new Promise((resolve) => {
    process.send?.(message, undefined, undefined, resolve);
  });
/** @type {Promise<unknown>[]} */
const sent = [];
try {
  const bench = await import(pathToFileURL(bundle).href);
  await bench.run({
    root,
    figure: (/** @type {unknown} */ figure) => sent.push(send({ figure })),
    note: (/** @type {string} */ note) => sent.push(send({ note })),
  });
  await Promise.all(sent);
  process.exit(0);
} catch (error) {
  await Promise.all(sent);
  await send({ error: error instanceof Error ? error.stack : String(error) });
  process.exit(1);
}
