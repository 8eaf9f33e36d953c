import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../core/contract/errors.js';
import { ago, colourStates, cut, isoTime, localTimes, printable, table } from '../../main/cli/format.js';
import { createOutput } from '../../main/cli/output.js';
import { jobTable, parseStates } from '../../main/cli/commands/list.js';
import { jsonSink, lineSink, rawSink } from '../../main/cli/task-output.js';
import { collect } from '../../main/cli/log-tail.js';
import { keptOutput } from './output.js';
import { summary } from './views.js';

const now = 1_700_000_100_000;

describe('tables', () => {
  it('align columns, cut what is long and end lines without blanks', () => {
    const text = table(
      [{ title: 'NAME', max: 6 }, { title: 'N', align: 'right' }, { title: 'NOTE' }],
      [
        ['abcdefghij', '7', ''],
        ['é', '12', 'x'],
      ],
    );
    expect(text).toBe('NAME     N  NOTE\nabc...   7\né       12  x\n');
  });

  it('list a job with its reason cut at 60', () => {
    const message = `needs 999 cores; ${'m'.repeat(80)}`;
    const text = jobTable(
      [
        summary({ state: 'PENDING', waiting: { code: 'WAITS_NO_WORKER_FITS', message } }),
        summary({
          id: '/ada/b',
          state: 'FAILED',
          exitCode: 3,
          cause: { code: 'EXIT_CODE', message: 'exit code 3' },
        }),
      ],
      now,
      true,
    );
    const lines = text.split('\n');
    expect(lines[0]).toBe('JOB ID        STATE    SUBMITTED   TASKS  EXIT  REASON');
    expect(lines[1]).toBe(
      `/ada/train-1  PENDING  1m 40s ago    0/1     -  needs 999 cores; ${'m'.repeat(40)}...`,
    );
    expect(lines[2]).toBe('/ada/b        FAILED   1m 40s ago    0/1     3  exit code 3');
  });

  it('never pass control characters on', () => {
    expect(printable('a\u001b[2Jb\nc\u202ed')).toBe('a\\u001b[2Jb c\\u202ed');
  });
});

describe('times and words', () => {
  it('tell how long ago, never in the future', () => {
    expect(ago(now - 500, now)).toBe('now');
    expect(ago(now + 90_000, now)).toBe('now');
    expect(ago(now - 3_700, now)).toBe('3s ago');
    expect(ago(now - 7_260_000, now)).toBe('2h 01m ago');
    expect(isoTime(0, () => 0)).toBe('1970-01-01T00:00:00Z');
    expect(isoTime(0, () => 330)).toBe('1970-01-01T05:30:00+05:30');
    expect(isoTime(0, () => -210)).toBe('1969-12-31T20:30:00-03:30');
    expect(isoTime(null)).toBe('-');
  });

  it('cut by characters, not by halves of them', () => {
    expect(cut('😀😀😀😀😀', 4)).toBe('😀...');
    expect(cut('abcd', 4)).toBe('abcd');
  });

  it('colour states that stand alone', () => {
    expect(colourStates('/a/FAILED FAILED x')).toBe('/a/FAILED \u001b[31mFAILED\u001b[0m x');
  });

  it('read states as people write them', () => {
    expect(parseStates(['failed,Running', 'worker-failed', 'JOB_STATE_PENDING'])).toEqual([
      'FAILED',
      'RUNNING',
      'WORKER_FAILED',
      'PENDING',
    ]);
    expect(() => parseStates(['done'])).toThrow(
      /--state: done is no state of a job; expected one of pending, /,
    );
  });
});

describe('log bytes', () => {
  it('of one task pass unchanged', async () => {
    const kept = keptOutput();
    const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xc3]);
    await rawSink(kept.output).write('out', bytes);
    expect(kept.outBytes()).toEqual(bytes);
  });

  it('have what was heard of a line drawn over it on a terminal, and taken off before what follows', async () => {
    const kept = keptOutput({ isTerminal: true });
    const sink = rawSink(kept.output);
    const add = (text: string) => sink.write('out', Buffer.from(text));
    await add('one\n\r 1█\r 2█');
    await sink.heard?.({ out: '\r 5█', err: '' });
    await sink.heard?.({ out: '\r 5█', err: '' });
    expect(kept.out()).toBe('one\n\r 1█\r 2█\r\x1b[K 5█');
    await add('\r 3█\n');
    expect(kept.out()).toBe('one\n\r 1█\r 2█\r\x1b[K 5█\r\x1b[K 2█\r 3█\n');
    await sink.heard?.({ out: '', err: '...' });
    await sink.end();
    expect(kept.out().endsWith('\n\r\x1b[K…...\r\x1b[K')).toBe(true);
  });

  it('are covered on one row alone, by text that acts on nothing', async () => {
    const kept = keptOutput({ isTerminal: true, columns: 10 });
    const sink = rawSink(kept.output);
    const shown = async (out: string) => {
      const before = kept.out().length;
      await sink.heard?.({ out, err: '' });
      return kept.out().slice(before);
    };
    expect(await shown(`\r\x1b[31m${'█'.repeat(9)}`)).toBe('\r\x1b[K████');
    expect(await shown('\r\x1b[Aup\x1b[0m')).toBe('\r\x1b[Kup');
    expect(await shown('')).toBe('\r\x1b[K');
    await sink.write('out', Buffer.from('a line on two rows'));
    expect(await shown('\r 7%')).toBe('');
    await sink.write('out', Buffer.from('\r 6%'));
    expect(await shown('\r 7%')).toBe('\r\x1b[K 7%');
  });

  it('are nothing but those of the log where they go into a file', () => {
    expect(rawSink(keptOutput().output).heard).toBeUndefined();
    expect(rawSink(keptOutput({ isTerminal: true, json: true }).output).heard).toBeUndefined();
  });

  it('of several tasks come in whole lines', async () => {
    const kept = keptOutput();
    const first = lineSink(kept.output, '');
    const second = lineSink(kept.output, '');
    await first.write('out', Buffer.from('on'));
    await second.write('out', Buffer.from('two\ntw'));
    await first.write('out', Buffer.from('e\nlast'));
    await second.end();
    await first.end();
    expect(kept.out()).toBe('two\none\ntw\nlast\n');
  });

  it('have a prefix once a line, however they are cut', async () => {
    const kept = keptOutput();
    const sink = lineSink(kept.output, '[3] ');
    await sink.write('out', Buffer.from('a\nb\nc'));
    await sink.write('out', Buffer.from('c\n'));
    const long = 'x'.repeat(1024 * 1024 + 1);
    await sink.write('out', Buffer.from(long));
    await sink.write('out', Buffer.from('y'));
    await sink.end();
    expect(kept.out()).toBe(`[3] a\n[3] b\n[3] cc\n[3] ${long}y\n`);
  });

  it('keep the streams apart', async () => {
    const kept = keptOutput();
    const sink = lineSink(kept.output, '');
    await sink.write('out', Buffer.from('o'));
    await sink.write('err', Buffer.from('e\n'));
    await sink.write('out', Buffer.from('ut\n'));
    expect([kept.out(), kept.err()]).toEqual(['out\n', 'e\n']);
  });

  it('become text for programs, characters whole', async () => {
    const lines: string[] = [];
    const sink = jsonSink((stream, text) => {
      lines.push(`${stream}:${text}`);
      return Promise.resolve();
    });
    const bytes = Buffer.from('é\nrest');
    await sink.write('out', bytes.subarray(0, 1));
    await sink.write('out', bytes.subarray(1));
    await sink.end();
    expect(lines).toEqual(['out:é', 'out:rest']);
  });

  it('as text come in pieces where a line is longer than is held, as a progress bar of hours is', async () => {
    const seen: { length: number; goesOn: boolean }[] = [];
    const sink = jsonSink((_, { length }, goesOn) => {
      seen.push({ length, goesOn });
      return Promise.resolve();
    });
    const piece = Buffer.alloc(512 * 1024, '\r');
    for (let time = 0; time < 7; time += 1) await sink.write('out', piece);
    await sink.write('out', Buffer.from('end\nnext'));
    await sink.end();
    expect(seen).toEqual([
      { length: 3 * piece.length, goesOn: true },
      { length: 3 * piece.length, goesOn: true },
      { length: piece.length + 3, goesOn: false },
      { length: 4, goesOn: false },
    ]);
  });

  it('go beside the result with --json', async () => {
    const kept = keptOutput({ json: true });
    await rawSink(kept.output).write('out', Buffer.from('log\n'));
    await kept.output.value({ exitCode: 0 });
    expect([kept.out(), kept.err()]).toEqual(['{"exitCode":0}\n', 'log\n']);
  });

  it('names what is wrong of a request each on a line, and what a sentence has named once', async () => {
    const fields = [
      { field: 'memory', value: '2 TiB', expected: '64 GiB' },
      { field: 'gpu', value: '1 GPU', expected: 'no GPU' },
    ];
    const wrong = keptOutput();
    await wrong.output.refusal(refusal('INVALID_ARGUMENT', 'memory: wrong (and 1 more)', fields));
    expect(wrong.err()).toBe(
      'irisctl: memory: wrong (and 1 more)\nirisctl: gpu: 1 GPU is not valid; expected no GPU.\n',
    );
    const never = keptOutput();
    await never.output.refusal(refusal('INFEASIBLE', 'No machine can run it: memory and GPU.', fields));
    expect(never.err()).toBe('irisctl: No machine can run it: memory and GPU.\n');
  });

  it('wait for a slow reader and give up with one that left', async () => {
    let release: () => void = () => undefined;
    const slow = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => (release = done) });
    const output = createOutput(
      { out: slow, err: new Writable({ write: (_c, _e, done) => done() }) },
      { json: false, colour: false },
    );
    let written = false;
    const writing = output.bytes('out', Buffer.from('ab')).then((more) => {
      written = true;
      return more;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBe(false);
    release();
    expect(await writing).toBe(true);
    const leaving = output.bytes('out', Buffer.from('cd'));
    slow.destroy(new Error('EPIPE'));
    expect(await leaving).toBe(false);
    expect(output.outputGone).toBe(true);
  });
});

describe('the last lines of a log', () => {
  const pieces = [
    { stream: 'out' as const, data: Buffer.from('1\n2\n') },
    { stream: 'err' as const, data: Buffer.from('e1\ne2\n') },
    { stream: 'out' as const, data: Buffer.from('3\n4') },
  ];
  const text = (lines: number, only?: 'out' | 'err') =>
    collect(pieces, lines, only)
      .pieces.map((piece) => piece.data.toString())
      .join('|');

  it.each([
    [1, '4'],
    [2, '3\n4'],
    [3, 'e2\n|3\n4'],
    [5, '2\n|e1\ne2\n|3\n4'],
    [6, '1\n2\n|e1\ne2\n|3\n4'],
    [99, '1\n2\n|e1\ne2\n|3\n4'],
  ])('are %i', (lines, expected) => {
    expect(text(lines)).toBe(expected);
  });

  it('are of one stream when asked', () => {
    expect(text(2, 'out')).toBe('3\n4');
    expect(text(1, 'err')).toBe('e2\n');
  });

  it('are none for 0', () => {
    expect(text(0)).toBe('');
  });
});

describe('times in sentences of the controller', () => {
  it.each([
    [0, 'Starts no earlier than 2026-12-01 08:00:00 UTC.'],
    [330, 'Starts no earlier than 2026-12-01 13:30:00 +05:30.'],
    [-600, 'Starts no earlier than 2026-11-30 22:00:00 -10:00.'],
  ])('by a clock %d minutes ahead', (offset, shown) => {
    const sentence = 'Starts no earlier than 2026-12-01 08:00:00 UTC.';
    expect(localTimes(sentence, () => offset)).toBe(shown);
  });
});
