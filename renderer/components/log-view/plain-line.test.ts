import { describe, expect, it } from 'vitest';
import { plainLine } from './plain-line.js';

describe('a line as plain text', () => {
  it.each([
    ['  File "train.py", line 3, in <module>\r', '  File "train.py", line 3, in <module>'],
    ['\x1b[31mRuntimeError:\x1b[0m no memory  ', 'RuntimeError: no memory'],
    ['  1%|   |\r 50%|## |\r100%|###|\r', '100%|###|'],
    ['\t\t', ''],
  ])('of %j keeps the indent alone', (line, text) => {
    expect(plainLine(line)).toBe(text);
  });
});
