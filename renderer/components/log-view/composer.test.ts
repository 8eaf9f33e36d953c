import { Terminal } from '@xterm/xterm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogCut } from '../../../core/formats/log-cut.js';
import { createComposer, type Composer, type LogChunk, type StreamName } from './composer.js';
import { errorMarkColor } from './sgr.js';

const encoder = new TextEncoder();

/** Writes chunks in order, keeping the offsets of each stream. */
function makeFeed(columns = 40, cut: LogCut | null = null) {
  const composer = createComposer({
    markErrors: true,
    gapText: (bytes) => `[${bytes} bytes not shown]`,
    cut: cut === null ? null : { place: cut, text: '[cut]' },
  });
  composer.setColumns(columns);
  const offsets: Record<StreamName, number> = { out: 0, err: 0 };
  const chunk = (stream: StreamName, data: string | Uint8Array): LogChunk => {
    const bytes = typeof data === 'string' ? encoder.encode(data) : data;
    const made = { stream, offset: offsets[stream], bytes };
    offsets[stream] += bytes.length;
    return made;
  };
  return { composer, chunk, offsets, columns };
}

async function screen(text: string, columns = 40): Promise<{ terminal: Terminal; rows: string[] }> {
  const terminal = new Terminal({ cols: columns, rows: 10, scrollback: 200, allowProposedApi: true });
  await new Promise<void>((done) => {
    terminal.write(text, done);
  });
  const buffer = terminal.buffer.active;
  const rows: string[] = [];
  for (let row = 0; row <= buffer.baseY + buffer.cursorY; row += 1) {
    rows.push((buffer.getLine(row)?.translateToString(true) ?? '').trimEnd());
  }
  while (rows.at(-1) === '') rows.pop();
  return { terminal, rows };
}

type Step = readonly [StreamName, string];

/** Each inner list is one batch. */
async function play(batches: readonly (readonly Step[])[], settle = false): Promise<string[]> {
  const { composer, chunk } = makeFeed();
  let text = '';
  for (const batch of batches) text += composer.push(batch.map(([stream, data]) => chunk(stream, data)));
  if (settle) text += composer.settle();
  return (await screen(text)).rows;
}

describe('where the log may be cut', () => {
  const rowsWith = async (cut: LogCut, steps: readonly Step[], apart: boolean) => {
    const { composer, chunk } = makeFeed(40, cut);
    const chunks = steps.map(([stream, data]) => chunk(stream, data));
    const text = apart ? chunks.map((one) => composer.push([one])).join('') : composer.push(chunks);
    return (await screen(text)).rows;
  };

  it.each([
    ['between two lines', { out: 4, err: 9 }, ['one', '[cut]', 'two']],
    ['within a line, which goes on below', { out: 2, err: 9 }, ['on', '[cut]', 'e', 'two']],
    ['before the first byte', { out: 0, err: 9 }, ['[cut]', 'one', 'two']],
    ['at the end so far', { out: 8, err: 9 }, ['one', 'two', '[cut]']],
    ['beyond the end: not yet', { out: 9, err: 9 }, ['one', 'two']],
  ])('%s', async (_what, cut, rows) => {
    const steps: readonly Step[] = [
      ['out', 'one\n'],
      ['out', 'two\n'],
    ];
    expect(await rowsWith(cut, steps, false)).toEqual(rows);
    expect(await rowsWith(cut, steps, true)).toEqual(rows);
  });

  it('leaves the unfinished line of the other stream above it', async () => {
    const steps: readonly Step[] = [
      ['err', 'warn'],
      ['out', 'one\ntwo\n'],
      ['err', 'ing\n'],
    ];
    expect(await rowsWith({ out: 4, err: 99 }, steps, false)).toEqual(['one', 'warn', '[cut]', 'two', 'ing']);
  });
});

describe('one stream', () => {
  it('draws lines, carriage returns and an unfinished last line as a terminal would', async () => {
    expect(await play([[['out', 'one\ntwo\r\n 10%\r 20%\r 99']], [['out', '%\rdone \nlast']]])).toEqual([
      'one',
      'two',
      'done',
      'last',
    ]);
  });

  it('keeps characters whole that were cut anywhere', () => {
    const text = 'aé€😀z\n';
    const bytes = encoder.encode(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const { composer, chunk } = makeFeed();
      const first = composer.push([chunk('out', bytes.subarray(0, cut))]);
      const second = composer.push([chunk('out', bytes.subarray(cut))]);
      expect((first + second).replaceAll('\x1b[0m', '')).toBe('aé€😀z\r\n');
    }
  });

  it('shows invalid bytes as replacement characters', async () => {
    const { composer, chunk } = makeFeed();
    const text = composer.push([chunk('out', new Uint8Array([0x61, 0xff, 0xc3, 0x62, 0x0a]))]);
    expect((await screen(text)).rows).toEqual(['a\ufffd\ufffdb']);
  });

  it('does not blame the program for a character cut by starting in the middle', async () => {
    const composer = createComposer({ markErrors: false, gapText: String });
    const bytes = encoder.encode('€x\n');
    expect(
      (await screen(composer.push([{ stream: 'out', offset: 101, bytes: bytes.subarray(1) }]))).rows,
    ).toEqual(['x']);
    const atStart = createComposer({ markErrors: false, gapText: String });
    expect(
      (await screen(atStart.push([{ stream: 'out', offset: 0, bytes: bytes.subarray(1) }]))).rows,
    ).toEqual(['\ufffd\ufffdx']);
  });

  it('keeps bounded memory on a bar of 100,000 updates and shows its last state', async () => {
    const { composer, chunk } = makeFeed();
    const updates = Array.from({ length: 100_000 }, (_, index) => `\r\x1b[32m${index}\x1b[0m of 100000`).join(
      '',
    );
    composer.push([chunk('out', updates)]);
    // Redrawing it below a line of the other stream shows how much was kept.
    const redrawn = composer.push([chunk('err', 'warning\n')]);
    expect(redrawn.length).toBeLessThan(1000);
    expect((await screen(redrawn)).rows).toEqual(['warning', '99999 of 100000']);
  });
});

describe('two streams', () => {
  it('never glues the lines of one to the other', async () => {
    expect(
      await play([
        [
          ['out', 'epoch 3 lo'],
          ['err', 'warning\n'],
          ['out', 'ss 0.5\n'],
        ],
      ]),
    ).toEqual(['warning', 'epoch 3 loss 0.5']);
    expect(await play([[['out', 'epoch 3 lo']], [['err', 'warning\n']], [['out', 'ss 0.5\n']]])).toEqual([
      'warning',
      'epoch 3 loss 0.5',
    ]);
  });

  it("keeps one stream's progress bar on the last row while the other prints", async () => {
    const batches: Step[][] = [];
    for (let step = 1; step <= 3; step += 1) {
      batches.push([['err', `\r${step}/3 #####`]]);
      batches.push([['out', `loss ${step}\n`]]);
    }
    expect(await play(batches)).toEqual(['loss 1', 'loss 2', 'loss 3', '3/3 #####']);
    expect(await play([...batches, [['err', '\n']]])).toEqual(['loss 1', 'loss 2', 'loss 3', '3/3 #####']);
  });

  it('leaves an unfinished line that takes several rows where it is', async () => {
    const long = 'x'.repeat(60);
    expect(await play([[['err', long]], [['out', 'line\n']], [['err', 'y\n']]])).toEqual([
      'x'.repeat(40),
      'x'.repeat(20),
      'line',
      'y',
    ]);
  });

  it('shows what it held back once nothing more comes', async () => {
    const batches: Step[][] = [[['err', '50%']], [['out', 'Password: ']]];
    expect(await play(batches)).toEqual(['50%']);
    expect(await play(batches, true)).toEqual(['Password:', '50%']);
    expect(await play([[['out', 'only']]], true)).toEqual(['only']);
  });

  it('does not hold back more than a bounded line', () => {
    const { composer, chunk } = makeFeed();
    composer.push([chunk('err', 'bar')]);
    const text = composer.push([chunk('out', 'z'.repeat(70_000))]);
    expect(text).toContain('z'.repeat(70_000));
  });

  it('keeps the colours of each apart, and its own over lines', async () => {
    const { composer, chunk } = makeFeed();
    const text = composer.push([
      chunk('err', '\x1b[31mred\n'),
      chunk('out', 'plain\n'),
      chunk('err', 'still red\x1b[0m plain\n'),
    ]);
    const { terminal, rows } = await screen(text);
    expect(rows).toEqual(['red', 'plain', 'still red plain']);
    const color = (row: number, column: number) => {
      const cell = terminal.buffer.active.getLine(row)?.getCell(column);
      return cell?.isFgPalette() === true ? cell.getFgColor() : null;
    };
    expect([color(0, 0), color(1, 0), color(2, 0), color(2, 11)]).toEqual([1, null, 1, null]);
  });

  it('marks every row of stderr, whatever colours the program sets, and none of stdout', async () => {
    const { composer, chunk } = makeFeed();
    const text = composer.push([
      chunk('err', 'a\x1b[0mb\x1b[mc\x1b[31;1md\x1b[49me\x1b[0;7mf\n'),
      chunk('out', '\x1b[48;5;255mout\x1b[0m\n'),
      chunk('err', '\x1b[41mg\x1b[0mh'),
    ]);
    const { terminal } = await screen(text);
    const marks = (row: number, columns: number) =>
      Array.from({ length: columns }, (_, column) => {
        const cell = terminal.buffer.active.getLine(row)?.getCell(column);
        return cell?.isBgPalette() === true && cell.getBgColor() === errorMarkColor;
      });
    expect(marks(0, 6)).toEqual([true, true, true, true, true, true]);
    expect(marks(1, 3)).toEqual([false, false, false]);
    expect(marks(2, 2)).toEqual([false, true]);
  });

  it('never shows concealed text as nothing', async () => {
    const { composer, chunk } = makeFeed();
    const { terminal } = await screen(composer.push([chunk('out', '\x1b[8;31mhidden\x1b[38;5;8mgrey\n')]));
    const cell = terminal.buffer.active.getLine(0)?.getCell(0);
    expect(cell?.isInvisible()).toBe(0);
    expect(cell?.getFgColor()).toBe(1);
    expect(terminal.buffer.active.getLine(0)?.getCell(6)?.getFgColor()).toBe(8);
  });
});

describe('gaps', () => {
  const gapRows = async (
    run: (composer: Composer, chunk: ReturnType<typeof makeFeed>['chunk']) => string,
  ) => {
    const { composer, chunk } = makeFeed();
    return (await screen(run(composer, chunk))).rows;
  };

  it('marks bytes not shown in a line of their own and starts anew after it', async () => {
    expect(
      await gapRows((composer, chunk) => {
        const before = composer.push([chunk('out', '\x1b[31mhalf a li')]);
        return (
          before +
          composer.gap(3_000_000) +
          composer.push([{ stream: 'out', offset: 3_000_010, bytes: encoder.encode('ne\nnext\n') }])
        );
      }),
    ).toEqual(['half a li', '[3000000 bytes not shown]', 'ne', 'next']);
  });

  it('notices a hole in the offsets by itself', async () => {
    expect(
      await gapRows((composer, chunk) => {
        const before = composer.push([chunk('out', 'one\n')]);
        return before + composer.push([{ stream: 'out', offset: 104, bytes: encoder.encode('two\n') }]);
      }),
    ).toEqual(['one', '[100 bytes not shown]', 'two']);
  });
});

it('loses no byte of either stream, however they are cut and mixed', async () => {
  const word = fc.stringMatching(/^[a-z0-9 ]{0,12}$/);
  const step = fc.tuple(fc.constantFrom<StreamName>('out', 'err'), fc.array(word), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 8 }), async (batches) => {
      const { composer, chunk } = makeFeed(1000);
      const sent: Record<StreamName, string> = { out: '', err: '' };
      let text = '';
      for (const batch of batches) {
        const chunks = batch.map(([stream, lines, ended]) => {
          const data =
            lines.map((line) => `${stream === 'out' ? 'o' : 'e'}${line}`).join('\n') + (ended ? '\n' : '');
          sent[stream] += data;
          return chunk(stream, data);
        });
        text += composer.push(chunks);
      }
      text += composer.settle();
      const { rows } = await screen(text, 1000);
      const linesOf = (all: string) =>
        all
          .split('\n')
          .map((line) => line.trimEnd())
          .filter((line) => line !== '')
          .sort();
      expect(rows.filter((row) => row !== '').sort()).toEqual(
        [...linesOf(sent.out), ...linesOf(sent.err)].sort(),
      );
    }),
    { numRuns: 150 },
  );
});

describe('what was printed since and is not in the log yet', () => {
  const none = { out: '', err: '' };

  it('is drawn over the unfinished line, and taken off before what the log brings', async () => {
    const { composer, chunk } = makeFeed();
    let text = composer.push([chunk('out', 'first\n\r 10%\r 11%')]);
    const rows = async () => (await screen(text)).rows;
    text += composer.cover({ out: '\r 52%', err: '' });
    expect(await rows()).toEqual(['first', ' 52%']);
    expect(composer.cover({ out: '\r 52%', err: '' })).toBe('');
    text += composer.cover({ out: '\r 7%', err: '' });
    expect(await rows()).toEqual(['first', ' 7%']);
    text += composer.push([chunk('out', '2\r 53% done\n')]);
    expect(await rows()).toEqual(['first', ' 53% done']);
    text += composer.cover({ out: '\r 1%', err: '' });
    text += composer.cover(none);
    expect(await rows()).toEqual(['first', ' 53% done']);
  });

  it('leaves the line as it was when there is nothing more of it', async () => {
    const { composer, chunk } = makeFeed();
    let text = composer.push([chunk('err', 'bar 10%')]);
    text += composer.cover({ out: '', err: '\rbar 52% and more' });
    text += composer.settle();
    expect((await screen(text)).rows).toEqual(['bar 52% and more']);
    text += composer.cover(none);
    expect((await screen(text)).rows).toEqual(['bar 10%']);
  });

  it('is the end of the line where no carriage return was heard, and never wider than the terminal', async () => {
    const { composer, chunk } = makeFeed();
    let text = composer.push([chunk('out', 'dots ..')]);
    text += composer.cover({ out: '....', err: '' });
    expect((await screen(text)).rows).toEqual(['dots ..…....']);
    text += composer.cover({ out: `\r${'=█'.repeat(60)}`, err: '' });
    expect((await screen(text)).rows).toHaveLength(1);
    text += composer.push([chunk('out', '.\nnext\n')]);
    expect((await screen(text)).rows).toEqual(['dots ...', 'next']);
  });

  it('acts on nothing but its line', async () => {
    const { composer, chunk } = makeFeed();
    let text = composer.push([chunk('out', 'one\ntwo\n')]);
    text += composer.cover({ out: '\r\x1b[5A\x1b]0;title\x07\x1b[31mred\x1b[2J', err: '' });
    expect((await screen(text)).rows).toEqual(['one', 'two', 'red']);
  });
});
