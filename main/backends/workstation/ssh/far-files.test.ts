import { expect, test } from 'vitest';
import { cachesAdvice } from '../../../../core/formats/docker/data-room.js';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { FarFiles } from './far-files.js';
import { FarWord, type FarText } from './far-words.js';

const word = (kind: string, ...texts: string[]) =>
  new FarWord(
    kind,
    texts.map((text) => Buffer.from(text)),
  );

test('a file of several containers goes once over each connection, and again when it may not have arrived', async () => {
  const files = new FarFiles('ws-2');
  let sent: (readonly FarText[])[] = [];
  const connect = () => files.connected((...texts) => void sent.push(texts));
  const puts = () => sent.filter(([kind]) => kind === 'put').length;
  const prepare = (answer: (id: string) => FarWord) => {
    sent = [];
    const staged = [{ path: 'a', contentBase64: Buffer.from('a').toString('base64') }];
    const end = files.prepare('/x/0123456789abcdef', staged, launchOf({ command: ['true'], image: 'b' }));
    files.word(answer(String(sent.at(-1)?.[1])));
    return end;
  };
  const done = (id: string) => word('prepared', id, '/there/work', '');
  connect();
  expect(await prepare(done)).toEqual({ scratch: '/there/work' });
  expect(puts()).toBe(1);
  await prepare(done);
  expect(puts()).toBe(0);
  expect(await prepare((id) => word('prepared', id, '', 'No space left on device', '28'))).toEqual({
    cause: { code: 'LOG_STORAGE_FULL', message: `On ws-2: No space left on device. ${cachesAdvice}` },
    blameless: true,
  });
  await prepare(done);
  expect(puts()).toBe(1);
  files.disconnected();
  connect();
  await prepare(done);
  expect(puts()).toBe(1);
});

test('a path that could not be looked at is told apart from one where nothing is', async () => {
  const files = new FarFiles('ws-2');
  let asked = '';
  files.connected((_, id) => {
    asked = String(id);
  });
  const answered = (...texts: string[]): Promise<string | null> => {
    const real = files.realPath('/data');
    files.word(word('real', asked, ...texts));
    return real;
  };
  expect(await answered('/disk/data')).toBe('/disk/data');
  expect(await answered('')).toBeNull();
  const has = (...texts: string[]) => {
    const found = files.hasFolder('/data');
    files.word(word('real', asked, ...texts));
    return found;
  };
  expect(await has('/disk/data')).toBe(true);
  expect(await has('')).toBe(false);
  expect(await has('', 'late')).toBeNull();
  await expect(answered('', 'late')).rejects.toThrow('a file system there does not answer');
  await expect(answered('', 'Too many open files')).rejects.toThrow(
    '/data on ws-2 could not be looked at: Too many open files',
  );
});
