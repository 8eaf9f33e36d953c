import { describe, expect, test } from 'vitest';
import { ForkWords, frameOf, setupFrame, startFrame, type ForkWord } from './fork-frames.js';

/** What the other side reads. */
function textsOf(frame: Buffer): string[] {
  expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
  const texts: string[] = [];
  for (let at = 4; at < frame.length;) {
    const size = frame.readUInt32BE(at);
    texts.push(frame.toString('utf8', at + 4, at + 4 + size));
    at += 4 + size;
  }
  return texts;
}

describe('frames', () => {
  test('lengths are of bytes, and an empty text is one', () => {
    expect(textsOf(frameOf(['a', '', 'ü🚀', '\n\0']))).toEqual(['a', '', 'ü🚀', '\n\0']);
    expect([...frameOf(['ü'])]).toEqual([0, 0, 0, 6, 0, 0, 0, 2, 0xc3, 0xbc]);
  });

  test('a set-up and a start in the order the server takes them', () => {
    expect(textsOf(setupFrame('/attempts', { A: '1', B: '' }))).toEqual([
      'setup',
      '/attempts',
      'A',
      '1',
      'B',
      '',
    ]);
    const start = {
      uid: 'a1',
      folder: '/here',
      before: ['sh', 'x'],
      files: ['/bin/true'],
      after: [],
      environment: { C: '3' },
    };
    expect(textsOf(startFrame(start))).toEqual([
      'start',
      'a1',
      '/here',
      '2',
      'sh',
      'x',
      '1',
      '/bin/true',
      '0',
      'C',
      '3',
    ]);
  });
});

const claim = 'exit 0 7 1.00 2.00 .\nboot\n7 (sh) S 1\n';
const output = [
  'ready 12 1\n',
  'started a1 7\nstarted a2 8\n',
  `ended a1 7 0 0 ${claim.length}\n${claim}`,
  'ended a2 8 9 1 0\n',
  'claimed a3\n',
  'fault a4 cwd 2 No such file or directory\nfault a5 cwd 0 file\nfault a6 program refused 3\n',
].join('');
const words: readonly ForkWord[] = [
  { kind: 'ready', pid: 12, reaper: 1 },
  { kind: 'started', uid: 'a1', pid: 7 },
  { kind: 'started', uid: 'a2', pid: 8 },
  { kind: 'ended', uid: 'a1', pid: 7, code: 0, signal: null, groupAlive: false, claim },
  { kind: 'ended', uid: 'a2', pid: 8, code: null, signal: 9, groupAlive: true, claim: '' },
  { kind: 'claimed', uid: 'a3' },
  { kind: 'fault', uid: 'a4', fault: { step: 'cwd', errno: 2, message: 'No such file or directory' } },
  { kind: 'fault', uid: 'a5', fault: { step: 'cwd', errno: 0, message: 'file' } },
  { kind: 'fault', uid: 'a6', fault: { step: 'program', state: 'refused', index: 3 } },
];

describe('words', () => {
  test.each([1, 2, 7, 40, 10_000])('in pieces of %i', (size) => {
    const reader = new ForkWords();
    const seen: ForkWord[] = [];
    for (let at = 0; at < output.length; at += size) seen.push(...reader.push(output.slice(at, at + size)));
    expect(seen).toEqual(words);
  });

  test('an exit code above 127 is no signal, and an unknown reaper is none', () => {
    expect(new ForkWords().push('ended a 7 65280 0 0\nready 3 0\n')).toEqual([
      { kind: 'ended', uid: 'a', pid: 7, code: 255, signal: null, groupAlive: false, claim: '' },
      { kind: 'ready', pid: 3, reaper: null },
    ]);
  });

  test.each([
    'hello\n',
    'started a\n',
    'ended a 7 0 0 x\n',
    'fault a nowhere\n',
    'fault a program odd 1\n',
    'fault a cwd ENOENT\n',
  ])('%j is named as none', (text) => {
    expect(() => new ForkWords().push(text)).toThrow(/^The fork server said ".*", which is no word of it\.$/);
  });
});
