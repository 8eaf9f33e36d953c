import { describe, expect, it } from 'vitest';
import type { LogStream } from './log-frames.js';
import { joinsTaken, logStart, readStamped, ResumeFilter, sinceOf, type ResumePoint } from './log-resume.js';

interface Message {
  readonly stream: LogStream;
  readonly stamp: string;
  readonly text: string;
}

const stamp = (nanos: number, second = 10): string =>
  `2026-11-29T10:00:${String(second).padStart(2, '0')}.${String(nanos).padStart(9, '0')}Z`;

/** What a break after so many messages and a new start give in all. `from`: as the Engine filters by its `since`. */
function copied(log: readonly Message[], breaks: readonly number[]): string[] {
  let point: ResumePoint = logStart;
  const taken: string[] = [];
  for (const most of [...breaks, Number.POSITIVE_INFINITY]) {
    const filter = new ResumeFilter(point);
    const since = sinceOf(point);
    const floor = since === null ? '' : new Date(Number(since) * 1000).toISOString();
    let read = 0;
    for (const message of log.filter((one) => one.stamp >= floor)) {
      if (read >= most) break;
      read += 1;
      if (filter.isNew(message)) taken.push(message.text);
    }
    point = filter.point();
  }
  return taken;
}

describe('the copy of a log after a break', () => {
  const log: Message[] = Array.from({ length: 40 }, (_, index) => ({
    stream: index % 3 === 0 ? 'err' : 'out',
    // Four messages a stamp; those of one stream are stamped a little before what precedes them on the other.
    stamp: stamp(1000 + Math.floor(index / 4) * 100 - (index % 3 === 0 ? 150 : 0)),
    text: `line ${index}`,
  }));

  it('loses and doubles nothing, wherever it breaks', () => {
    const whole = log.map(({ text }) => text);
    for (let at = 0; at <= log.length; at += 1) {
      for (let again = 0; again <= log.length; again += 7) expect(copied(log, [at, again])).toEqual(whole);
    }
  });

  it('asks from a little before the later stream', () => {
    const filter = new ResumeFilter(logStart);
    expect(sinceOf(filter.point())).toBeNull();
    filter.isNew({ stream: 'out', stamp: stamp(5, 30) });
    filter.isNew({ stream: 'err', stamp: stamp(5, 20) });
    expect(sinceOf(filter.point())).toBe((Date.UTC(2026, 10, 29, 10, 0, 29, 500) / 1000).toFixed(3));
  });

  it('counts from the start once the clock was set back', () => {
    const back = [30, 31, 12, 13, 32].map((second) => ({
      stream: 'out' as const,
      stamp: stamp(0, second),
      text: `at ${second}`,
    }));
    for (let at = 0; at <= back.length; at += 1) {
      // A break before the clock went back cannot know of it yet; from the third message on it does.
      if (at === 1 || at === 2) continue;
      expect(copied(back, [at])).toEqual(back.map(({ text }) => text));
    }
    const filter = new ResumeFilter(logStart);
    for (const message of back) filter.isNew(message);
    expect(sinceOf(filter.point())).toBeNull();
  });

  it('takes the stamp off a message, and says when there is none', () => {
    const data = Buffer.from(`${stamp(7)} hello\n`);
    const read = readStamped({ stream: 'err', data });
    expect([read?.stamp, Buffer.from(read?.data ?? []).toString()]).toEqual([stamp(7), 'hello\n']);
    expect(readStamped({ stream: 'out', data: Buffer.from('2026-11-29 no stamp') })).toBeNull();
  });

  it.each([
    ['2026-12-01T02:03:23Z a', '2026-12-01T02:03:23.000000000Z', 'a'],
    ['2026-12-01T04:03:24.5+02:00 b\n', '2026-12-01T04:03:24.500000000+02:00', 'b\n'],
    ['2026-12-01T02:03:24.123456789-05:30  two', '2026-12-01T02:03:24.123456789-05:30', ' two'],
  ])('reads %j as Podman writes it', (text, at, rest) => {
    const read = readStamped({ stream: 'out', data: Buffer.from(text) });
    expect([read?.stamp, Buffer.from(read?.data ?? []).toString()]).toEqual([at, rest]);
  });

  it('asks from a place in time whatever zone its stamps have', () => {
    const filter = new ResumeFilter(logStart);
    filter.isNew({ stream: 'out', stamp: '2026-12-01T04:03:24.500000000+02:00' });
    expect(sinceOf(filter.point())).toBe((Date.parse('2026-12-01T02:03:24Z') / 1000).toFixed(3));
  });
});

describe('the last messages of a log that was taken up to some message', () => {
  const at = (stream: LogStream, nanos: number) => ({ stream, stamp: stamp(nanos) });
  const taken = (...messages: readonly { stream: LogStream; stamp: string }[]): ResumePoint => {
    const filter = new ResumeFilter(logStart);
    for (const message of messages) filter.isNew(message);
    return filter.point();
  };

  it.each([
    ['begin with one that was taken before the last', [at('out', 1), at('out', 2)], [at('out', 1)], true],
    [
      'begin with the last that was taken: others at its stamp may lie before',
      [at('out', 2)],
      [at('out', 2)],
      false,
    ],
    ['begin after it: some may be missing', [at('out', 2)], [at('out', 3)], false],
    ['begin with a stream of which nothing was taken', [at('out', 2)], [at('err', 1)], false],
    [
      'cut the other stream within its last stamp',
      [at('err', 1), at('out', 5), at('err', 6)],
      [at('err', 1), at('out', 5)],
      false,
    ],
    [
      'have the other stream from before its last stamp on',
      [at('err', 1), at('out', 4), at('out', 5), at('err', 6)],
      [at('err', 1), at('out', 4)],
      true,
    ],
    ['are none', [at('out', 1)], [], false],
  ] as const)('%s', (_, before, last, joins) => {
    expect(joinsTaken(last, taken(...before))).toBe(joins);
  });
});
