/**
 * A cluster to practise on: a Docker Engine, an image, and two machines by SSH, all on this one and all gone again with Ctrl-C.
 * `npm run cluster:lab`
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineImage, engineObstacle, startEngine } from './lib/engine.mjs';
import { Lab, labObstacle } from './lib/lab-hosts.mjs';
import { say } from './lib/step.mjs';

const obstacle = labObstacle();
if (obstacle !== null) {
  say(`There can be no lab here: ${obstacle}.`);
  process.exit(1);
}

const asked = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
});
/** Ends in the order opposite to that of the starts. @type {(() => Promise<void>)[]} */
const ends = [];
let failed = false;
try {
  const without = engineObstacle();
  let dockerSocket = '';
  if (without === null) {
    const engine = await startEngine(mkdtempSync(join(tmpdir(), 'iris-engine-')));
    ends.push(() => engine.stop());
    dockerSocket = engine.socket;
  }
  const lab = new Lab();
  ends.push(() => lab.close());
  await lab.host('ws-two', { dockerSocket });
  await lab.host('ws-three');

  say('The lab is open. Names:');
  say(
    without === null
      ? `  Engine    unix://${dockerSocket}   (also the one of ws-two)`
      : `  Engine    none: ${without}`,
  );
  if (without === null) say(`  image     ${engineImage}`);
  for (const host of lab.hosts) say(`  machine   ssh://${host.name}   (${host.address})`);
  say('');
  say('In another terminal, before a host is started there:');
  if (without === null) say(`  export DOCKER_HOST=unix://${dockerSocket}`);
  say(`  export IRIS_SSH_CONFIG=${lab.configFile}`);
  say('  npm run -s irisctl -- machine add ssh://ws-two --name two');
  say('  npm run -s irisctl -- job run --machine two -- hostname');
  say(`  ssh -F ${lab.configFile} ws-two`);
  say('');
  say('Ctrl-C ends it all.');
  await asked;
} catch (error) {
  failed = true;
  say(`The lab could not be opened: ${error instanceof Error ? error.message : String(error)}`);
}
for (const end of ends.reverse()) {
  try {
    await end();
  } catch (error) {
    failed = true;
    say(`Something of the lab is left: ${error instanceof Error ? error.message : String(error)}`);
  }
}
say('The lab is closed.');
process.exit(failed ? 1 : 0);
