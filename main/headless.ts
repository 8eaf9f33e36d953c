/** Entry of a detached headless host: `node headless.js [--home DIR]`. Prints one line when it answers. */
import { compileForBursts } from './engine.js';
import { runHeadless } from './headless-host.js';

compileForBursts({ atOnce: true });
const flag = process.argv.indexOf('--home');
const code = await runHeadless({
  home: flag === -1 ? undefined : process.argv[flag + 1],
  ready: (socket) => process.stdout.write(`ready ${socket}\n`),
  failed: ({ message }) => process.stderr.write(`${message}\n`),
});
process.exit(code);
