/** What every statement goes through: its time is watched and its failure becomes a refusal. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openConnection } from '../../main/store/connection.js';
import { prepareDatabaseFile } from '../../main/store/files.js';
import { makeFolder, recordingLog, silent, type Folder } from './builders.js';

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
  prepareDatabaseFile(folder.database);
});
afterEach(() => {
  folder.remove();
});

it('logs a statement over 40 ms with its name and duration, and no other', () => {
  const log = recordingLog();
  const connection = openConnection(folder.database, log, { readOnly: false });
  const count = connection.prepare<{ count: number }>(
    'count up',
    `WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ?) SELECT count(*) AS count FROM up`,
  );
  expect(count.get(10)).toEqual({ count: 10 });
  const before = log.lines.length;
  expect(count.get(5_000_000)).toEqual({ count: 5_000_000 });
  const [line] = log.lines.slice(before);
  expect(line?.message).toBe('slow statement');
  expect(line?.fields['name']).toBe('count up');
  expect(line?.fields['durationMs']).toBeGreaterThan(40);
  connection.close();
});

it('rolls back what was written before a failure, and can write again', () => {
  const connection = openConnection(folder.database, silent, { readOnly: false });
  connection.database.exec('CREATE TABLE t (x INTEGER NOT NULL) STRICT');
  const insert = connection.prepare('insert', 'INSERT INTO t VALUES (?)');
  expect(() => {
    connection.write('Testing', () => {
      insert.run(1);
      insert.run('no number');
    });
  }).toThrow(/^Testing failed on .*SQLITE_CONSTRAINT/);
  connection.write('Testing', () => insert.run(2));
  expect(connection.prepare('all', 'SELECT x FROM t').all()).toEqual([{ x: 2 }]);
  connection.close();
});
