/**
 * Submits jobs to a database and acknowledges each batch by a line in a file, once the store has said that it is on disk.
 * Arguments: database, file of acknowledgements, number of batches (0: until killed), batches between checkpoints (0: never).
 */
import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { RefusalError } from '../../../core/contract/errors.js';
import { lifeOfJob, openTestStore, together } from '../builders.js';

const [database = '', acknowledgements = '', batches = '0', checkpointEvery = '0'] = process.argv.slice(2);
const file = openSync(acknowledgements, 'a');
const store = openTestStore(database);
const prefix = `/alice/run-${randomBytes(6).toString('hex')}`;

for (let batch = 1; Number(batches) === 0 || batch <= Number(batches); batch++) {
  const lives = [1, 2, 3].map((number) => lifeOfJob(`${prefix}-${batch}-${number}`));
  try {
    for (let step = 0; step < 4; step++) store.commit(together(lives.flatMap((life) => life[step] ?? [])));
    if (Number(checkpointEvery) > 0 && batch % Number(checkpointEvery) === 0) store.checkpoint();
  } catch (error) {
    process.stderr.write(
      `${error instanceof RefusalError ? JSON.stringify(error.refusal) : String(error)}\n`,
    );
    process.exit(3);
  }
  writeSync(file, `${prefix}-${batch}\n`);
}
store.close();
