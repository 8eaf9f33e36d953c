import { expect, test } from 'vitest';
import { forgetOld } from './far-retention.js';
import { FarWord, type FarText } from './far-words.js';

const said: string[] = [];
const log = { warn: (message: string) => void said.push(message) };
const old = new FarWord('old', [Buffer.from('a'), Buffer.from('b'), Buffer.from('c')]);

async function told(isKnown?: (uid: string) => Promise<boolean>): Promise<(readonly FarText[])[]> {
  const sent: (readonly FarText[])[] = [];
  await forgetOld(old, { log, isKnown }, (...texts) => void sent.push(texts));
  return sent;
}

test('what the controller keeps is not forgotten', async () => {
  expect(await told((uid) => Promise.resolve(uid === 'b'))).toEqual([['forget', 'a', 'c']]);
  expect(await told(() => Promise.resolve(true))).toEqual([]);
});

test('nor is anything while it cannot be asked, or there is nobody to ask', async () => {
  expect(await told()).toEqual([]);
  expect(
    await told((uid) => (uid === 'a' ? Promise.resolve(false) : Promise.reject(new Error('busy')))),
  ).toEqual([]);
  expect(said).toEqual(['What is kept of old attempts could not be asked, so nothing of them is removed']);
});
