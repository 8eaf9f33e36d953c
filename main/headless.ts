/** Entry of a detached headless host: `node headless.js [--home DIR]`. */
import { runHeadless } from './headless-host.js';

const flag = process.argv.indexOf('--home');
const code = await runHeadless({
  home: flag === -1 ? undefined : process.argv[flag + 1],
  failed: (message) => process.stderr.write(`${message}\n`),
});
process.exit(code);
