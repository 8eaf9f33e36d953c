/** `npm run lint`: formatting, rules, import laws, unused code. */
import { lintChecks, runChecks } from './lib/checks.mjs';
import { prepare } from './prepare/index.mjs';

await prepare({ window: false, bundles: [] });
process.exitCode = (await runChecks(lintChecks)).failed === 0 ? 0 : 1;
