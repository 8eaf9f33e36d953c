import { expect, test } from 'vitest';
import { ended, withLastWords, withoutLastWords } from './last-words.js';

test('what was said last comes behind how it ended, and can be taken off again', () => {
  const told = withLastWords('sh ended with exit code 3.', 'It said last: nothing.  ');
  expect(told).toBe('sh ended with exit code 3. It said last: It said last: nothing.  ');
  expect(withoutLastWords(told)).toBe('sh ended with exit code 3.');
  expect(withLastWords('sh ended.', null)).toBe('sh ended.');
  expect(withoutLastWords('sh ended.')).toBe('sh ended.');
});

test('a sentence may follow', () => {
  expect(ended('It said last: out of memory')).toBe('It said last: out of memory.');
  expect(ended('It ended.')).toBe('It ended.');
});
