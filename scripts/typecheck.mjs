/** `npm run typecheck`: every folder with its own tsconfig. */
import { runChecks, typeChecks } from './lib/checks.mjs';
import { prepare } from './prepare/index.mjs';

await prepare({ window: false, bundles: [] });
process.exitCode = (await runChecks(typeChecks)).failed === 0 ? 0 : 1;
