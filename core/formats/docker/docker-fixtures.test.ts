/** Every capture of test/fixtures/docker, read as it has to be. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDaemonError } from './daemon-errors.js';
import { readEnd, readEvent } from './events.js';
import { readContainer } from './inspect.js';
import { readJsonFile } from './json-file.js';
import { FrameError, LogFrameReader, type LogStream } from './log-frames.js';
import { LogLineReader } from './log-lines.js';
import { readStats, readStatsTable } from './stats.js';

const folder = resolve(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'docker');
const bytes = (name: string): Uint8Array => new Uint8Array(readFileSync(join(folder, name)));
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
const json = (name: string): unknown => JSON.parse(text(name));

/** Lines of both streams, the bytes given in pieces of this size. */
function framedLines(data: Uint8Array, size: number): Record<LogStream, string[]> {
  const frames = new LogFrameReader();
  const readers = { out: new LogLineReader(), err: new LogLineReader() };
  const lines: Record<LogStream, string[]> = { out: [], err: [] };
  for (let at = 0; at < data.length; at += size) {
    for (const frame of frames.push(data.subarray(at, at + size)))
      lines[frame.stream].push(...readers[frame.stream].push(frame.data));
  }
  expect(frames.pending).toBe(0);
  lines.out.push(...readers.out.end());
  lines.err.push(...readers.err.end());
  return lines;
}

function plainLines(data: Uint8Array, size: number, most?: number): string[] {
  const reader = new LogLineReader(most);
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += size) lines.push(...reader.push(data.subarray(at, at + size)));
  return [...lines, ...reader.end()];
}

describe.each([1, 3, 7, 8, 9, 64, 100_000])('log streams in pieces of %i bytes', (size) => {
  it('reads one frame without its header', () => {
    expect(framedLines(bytes('log-stream-framed-one-line.bin'), size)).toEqual({
      out: ['Received SIGINT scheduling shutdown...'],
      err: [],
    });
  });

  it('joins letters across frames, shows progress as its last state, keeps the last line', () => {
    expect(framedLines(bytes('log-stream-framed-mixed-constructed.bin'), size)).toEqual({
      out: ['epoch 1 loss 0.5', 'price € 10', 'bad byte � end', 'no newline at end'],
      err: ['warning: low memory', '100%'],
    });
  });

  it('keeps the first letters of a terminal', () => {
    const [line = ''] = plainLines(bytes('log-stream-tty-raw-ansi.bin'), size);
    expect(line.startsWith('\u001b[34mINFO\u001b[0m[92163] Registering on the discovery')).toBe(true);
  });
});

describe('log streams', () => {
  it('tells a stream without frames from one with them', () => {
    expect(() => new LogFrameReader().push(bytes('log-stream-tty-raw-ansi.bin'))).toThrow(FrameError);
  });

  it('says that a stream was cut in the middle of a frame', () => {
    const reader = new LogFrameReader();
    expect(reader.push(bytes('log-stream-framed-one-line.bin').subarray(0, 20))).toEqual([]);
    expect(reader.pending).toBe(20);
  });

  it('keeps five megabytes of progress without a newline as the last state', () => {
    const state = (percent: number) => `\r${String(percent).padStart(3)}%|${'#'.repeat(45)}|`;
    const piece = Array.from({ length: 1000 }, (_, index) => state(index % 100)).join('');
    const reader = new LogLineReader();
    let total = 0;
    for (; total < 5_000_000; total += piece.length) expect(reader.push(Buffer.from(piece))).toEqual([]);
    // What is kept is one state, not what came before it.
    expect(reader.keptLetters).toBeLessThan(100);
    expect(reader.end()).toEqual([state(99).slice(1)]);
  });

  it('shortens a line without end and keeps bounded memory', () => {
    const reader = new LogLineReader(1000);
    for (let at = 0; at < 500; at += 1) reader.push(Buffer.alloc(10_000, 'x'));
    expect(reader.keptLetters).toBe(1000);
    expect(reader.end()).toEqual([`${'x'.repeat(1000)}... (4999000 more)`]);
  });

  it('takes a carriage return before a newline as part of the end of line', () => {
    expect(plainLines(Buffer.from('one\r\ntwo\r\n\r\nthree\r'), 1)).toEqual(['one', 'two', '', 'three']);
  });

  it('reads a line of 89 KB cut in frames of 16 KB on a letter', () => {
    const line = JSON.stringify({ message: 'ü€😀'.repeat(9900) });
    expect(Buffer.byteLength(line)).toBeGreaterThan(89_000);
    const data = Buffer.from(`${line}\n`);
    const frames: Buffer[] = [];
    for (let at = 0; at < data.length; at += 16_384) {
      const part = data.subarray(at, at + 16_384);
      const header = Buffer.alloc(8);
      header[0] = 1;
      header.writeUInt32BE(part.length, 4);
      frames.push(header, part);
    }
    const reader = new LogFrameReader();
    const lines = new LogLineReader(1_000_000);
    const read = reader.push(Buffer.concat(frames)).flatMap((frame) => lines.push(frame.data));
    expect(read).toEqual([line]);
  });

  it('shows bytes that are no letters as the platform does', () => {
    const samples = [
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xe2, 0x82],
      [0xf5, 0x41],
      [0xf0, 0x9f, 0x98, 0x80],
      [0x80],
    ];
    for (const sample of samples) {
      const data = Uint8Array.from([0x61, ...sample, 0x62]);
      const [line = ''] = plainLines(data, 1);
      expect([line.startsWith('a'), line.endsWith('b')]).toEqual([true, true]);
      expect(line.includes('�')).toBe(new TextDecoder().decode(data).includes('�'));
    }
  });
});

describe('json-file', () => {
  it('joins records until one ends with a newline', () => {
    const [line, ...more] = readJsonFile(text('json-file-16k-split-time-inside.jsonl'));
    expect(more).toEqual([]);
    expect(line?.text).toBe(
      '{"@timestamp":"2021-10-18T17:35:54.263Z",xxxxxxx 2021-10-18T17:35:54.266092638+08:00 the another parts',
    );
  });

  it('keeps streams apart and leaves out a record that was cut', () => {
    const record = (log: string, stream: string) => JSON.stringify({ log, stream, time: 't' });
    const rows = [record('a ', 'stdout'), record('x\n', 'stderr'), record('b\n', 'stdout'), '{"log":"cu'];
    expect(readJsonFile(rows.join('\n')).map((line) => [line.stream, line.text])).toEqual([
      ['err', 'x'],
      ['out', 'a b'],
    ]);
  });
});

describe('inspect', () => {
  it('calls a 137 without the flag no lack of memory, and splits odd environments', () => {
    const view = readContainer(json('inspect-exited-137-not-oom-odd-env.json'));
    expect(view).toMatchObject({ exitCode: 137, outOfMemory: false, running: false, status: 'exited' });
    expect(view?.environment).toMatchObject({
      ENVVAR1: 'loremipsum',
      ENVVAR3: '=ubuntu:10.04',
      ENVVAR4: '',
      ENVVAR5: '',
      ENVVAR6: ' ',
      ENVVAR7: 'ENVVAR8=ENVVAR9',
    });
    expect(view?.finishedAtMs).toBe(Date.UTC(2024, 0, 1, 1));
  });

  it('reads two GPUs from a label with a trailing comma, a terminal, and no end', () => {
    expect(readContainer(json('inspect-tty-true-gpu-label-trailing-comma.json'))).toMatchObject({
      tty: true,
      gpus: ['0', '1'],
      finishedAtMs: null,
      exitCode: null,
      startedAtMs: Date.UTC(2018, 3, 8, 6, 23, 14, 91),
    });
  });

  it('finds one GPU by UUID where the NVIDIA runtime was used', () => {
    const view = readContainer(json('inspect-nvidia-runtime-gpu-by-uuid.json'));
    expect(view?.gpus).toEqual(['GPU-a0000001-0000-4000-8000-000000000001']);
    expect(view?.image).toMatch(/@sha256:/);
  });

  it('counts cards, not control nodes', () => {
    const view = readContainer(json('inspect-devices-list-gpu-order-reversed.json'));
    expect(view).toMatchObject({ gpus: ['0', '1', '2', '3'], tty: true });
  });
});

describe('events', () => {
  it('reads a stop with its grace time as a stop', () => {
    const rows = text('events-stop-term-then-kill-exit-137.jsonl').trim().split('\n');
    const events = rows.flatMap((row) => readEvent(JSON.parse(row)) ?? []);
    expect(events.map(({ action }) => action)).not.toContain('disconnect');
    expect(readEnd(events)).toEqual({ exitCode: 137, signals: [15, 9], stopped: true, outOfMemory: false });
    expect(readEnd(events.slice(0, 3))).toBeNull();
  });
});

describe('statistics', () => {
  it('takes a missing value as nothing done', () => {
    expect(readStats(json('stats-linux-missing-values.json'))).toMatchObject({
      readBytes: 753664,
      writtenBytes: 0,
      memoryBytes: null,
      memoryLimitBytes: 18935443456,
      cpuPercent: 0,
    });
  });

  it('reads Windows memory, and no processor use in a first sample', () => {
    expect(readStats(json('stats-windows-commit-bytes.json'))).toMatchObject({
      memoryBytes: 59961344,
      memoryLimitBytes: null,
      cpuPercent: null,
    });
  });

  it('knows a stopped container', () => {
    expect(readStats(json('stats-stopped-container-empty-object.json'))).toBeNull();
  });

  it('reads a table whose header lacks a column, in mixed units', () => {
    expect(readStatsTable(text('stats-cli-table-mixed-units.csv'))).toMatchObject([
      { name: 'prometheus', cpuPercent: 0, memoryBytes: 19587400, memoryLimitBytes: 300 * 2 ** 20 },
      { name: 'alert-manager', receivedBytes: 1_580_000_000_000, sentBytes: 425_000_000_000 },
    ]);
  });
});

describe('what the daemon says', () => {
  it('is told apart', () => {
    const [first, second, third, fourth, fifth, sixth] = text('daemon-error-messages.txt').trim().split('\n');
    const kind = (said: string | undefined) => readDaemonError(said ?? '').kind;
    expect(kind(first)).toBe('TOOLKIT_MISSING');
    expect(kind(second)).toBe('TOOLKIT_MISSING');
    expect(kind(third)).toBe('BAD_DEVICE_REQUEST');
    expect(kind(`${fourth ?? ''}\n${fifth ?? ''}`)).toBe('LOGIN_NEEDED');
    expect(kind(sixth)).toBe('NO_SUCH_TAG');
  });

  it.each([
    ['(HTTP code 404) no such container - No such image: nosuch:1', 'NO_SUCH_IMAGE'],
    [
      "pull access denied for x, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
      'LOGIN_NEEDED',
    ],
    [
      'OCI runtime create failed: runc: exec: "foo": executable file not found in $PATH: unknown',
      'PROGRAM_NOT_FOUND',
    ],
    ['write /var/lib/docker/tmp/x: no space left on device', 'NO_SPACE'],
    ['Unknown runtime specified runsc', 'RUNTIME_MISSING'],
    ['CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=GPU-a', 'CDI_DEVICE_MISSING'],
    [
      'OCI runtime start failed: starting container: setting up network: creating interfaces from net namespace "/proc/4522/ns/net": cannot run with network enabled in root network namespace: unknown',
      'RUNTIME_WITHOUT_NETWORK',
    ],
    [
      'no matching manifest for linux/arm64/v8 in the manifest list entries: no match for platform in manifest: not found',
      'NO_SUCH_PLATFORM',
    ],
    ['invalid mount config for type "bind": stat /home/ann/run: permission denied', 'FOLDER_DENIED'],
    [
      'failed to create task for container: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting "/home/ann/run" to rootfs at "/home/ann/run": mount src=/home/ann/run, dst=/home/ann/run: permission denied: unknown',
      'FOLDER_DENIED',
    ],
    // No folder of anybody's: an Engine that itself runs in a container may not do that.
    [
      'failed to create task for container: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting "proc" to rootfs at "/proc": mount src=proc, dst=/proc, dstFd=/proc/thread-self/fd/8, flags=0xe: permission denied: unknown',
      'OTHER',
    ],
    ['dial tcp: lookup registry.example on 10.0.0.1:53: no such host', 'REGISTRY_UNREACHABLE'],
  ])('%s', (said, kind) => {
    expect(readDaemonError(said).kind).toBe(kind);
    expect(readDaemonError(said).said).not.toContain('HTTP code');
  });
});
