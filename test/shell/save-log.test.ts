import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jobLimits } from '../../core/contract/job-request.js';
import { channels } from '../../main/ipc/channels.js';
import { requestSchemas } from '../../main/ipc/requests.js';
import { safeFileName, saveLog } from '../../main/shell/save-log.js';

const uid = '0123456789abcdef';

describe('the name of a saved log', () => {
  it.each([
    ['train.log', 'train.log'],
    ['../../etc/passwd', 'passwd'],
    ['a:b|c*.log', 'a-b-c-.log'],
    ['...', 'log.txt'],
  ])('of %s is %s', (suggested, name) => {
    expect(safeFileName(suggested)).toBe(name);
  });

  it.each(['n', '宽', '😀'])(
    'of a job named %s as often as a name may be long can be asked for and written',
    async (letter) => {
      const longest = letter.repeat(Math.floor(jobLimits.maxNameLength / letter.length));
      const suggested = `${longest}-9999.log`;
      expect(requestSchemas[channels.saveText].safeParse([suggested, uid, 'merged']).success).toBe(true);
      const name = safeFileName(suggested);
      expect(name.endsWith('.log')).toBe(true);
      expect(suggested.startsWith(name.slice(0, -'.log'.length))).toBe(true);
      const folder = await mkdtemp(join(tmpdir(), 'iris-save-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const call = () =>
        Promise.resolve({ dataBase64: Buffer.from('loss 1\n').toString('base64'), size: 7, complete: true });
      await saveLog({ call: call as never }, uid, 'out', join(folder, name));
      expect(await readdir(folder)).toEqual([name]);
      expect(await readFile(join(folder, name), 'utf8')).toBe('loss 1\n');
    },
  );
});

it('overwrites nothing but what it was told to, and takes a name as long as a file may have', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'iris-save-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const name = `${'n'.repeat(251)}.log`;
  for (const other of ['train.log', 'train.log.part']) await writeFile(join(folder, other), 'of the user');
  const call = (text: string) => () =>
    Promise.resolve({ dataBase64: Buffer.from(text).toString('base64'), size: 7, complete: true });
  const save = (text: string, file: string) =>
    saveLog({ call: call(text) as never }, uid, 'out', join(folder, file));
  await Promise.all([save('loss 1\n', 'train.log'), save('loss 2\n', name), save('loss 1\n', 'train.log')]);
  expect((await readdir(folder)).sort()).toEqual([name, 'train.log', 'train.log.part'].sort());
  const texts = await Promise.all(
    [name, 'train.log', 'train.log.part'].map((file) => readFile(join(folder, file), 'utf8')),
  );
  expect(texts).toEqual(['loss 2\n', 'loss 1\n', 'of the user']);
});
