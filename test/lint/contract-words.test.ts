/** A word of the contract that nothing ever says misleads whoever writes a case for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { errorCodes } from '../../core/contract/errors.js';

const root = resolve(import.meta.dirname, '..', '..');

function sourceTexts(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((name) => name !== join('core', 'contract', 'errors.ts'))
    .map((name) => readFileSync(join(root, name), 'utf8'));
}

it('every error code is given by some code', () => {
  const text = [...sourceTexts('core'), ...sourceTexts('main')].join('\n');
  expect(Object.keys(errorCodes).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});
