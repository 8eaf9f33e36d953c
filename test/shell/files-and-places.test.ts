import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseArguments } from '../../main/shell/arguments.js';
import { isAppUrl, resolveAsset } from '../../main/shell/asset-path.js';
import { createLifecycle } from '../../main/shell/lifecycle.js';
import { openRotatingLog } from '../../main/shell/rotating-log.js';
import { chooseSandbox } from '../../main/shell/sandbox.js';
import { openSettings } from '../../main/shell/settings.js';
import { isOlderVersion } from '../../main/shell/versions.js';
import { validPlace } from '../../main/shell/window-place.js';
import { findCookie, parseDisplay } from '../../main/shell/x11-selection.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-shell-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('files of the bundle', () => {
  it.each([
    ['iris://app/', 'index.html'],
    ['iris://app/index.html?x=1#/jobs', 'index.html'],
    ['iris://app/assets/main-1a.js', 'assets/main-1a.js'],
    ['iris://app/jobs', 'index.html'],
  ])('%s is %s', (url, file) => {
    expect(resolveAsset(url, '/bundle')?.file).toBe(`/bundle/${file}`);
  });

  it.each([
    'iris://other/index.html',
    'https://app/index.html',
    'iris://app/..%2f..%2fetc/passwd.html',
    'iris://app/%2e%2e%5cindex.html',
    'iris://app/a%00.html',
    'iris://app/.env.json',
    'iris://app/assets/.git/config.json',
    'iris://app/program.exe',
    'iris://app/%E0%A4%A.html',
    'no url',
  ])('%s is none', (url) => {
    const asset = resolveAsset(url, '/bundle');
    expect(asset === null || asset.file === '/bundle/index.html').toBe(true);
    expect(asset?.file ?? '').not.toMatch(/etc|exe|git|env/);
  });

  it('knows our pages by their parts', () => {
    expect(isAppUrl('iris://app/index.html')).toBe(true);
    for (const url of [
      'iris://app.example/',
      'iris://user@app/',
      'iris://app:1/',
      'https://app/',
      'about:blank',
      '',
    ]) {
      expect(isAppUrl(url), url).toBe(false);
    }
  });
});

describe('the window’s place', () => {
  const left = { x: 0, y: 0, width: 1920, height: 1080 };
  const right = { x: 1920, y: 0, width: 1280, height: 1024 };

  it('is the design size where nothing is remembered', () => {
    expect(validPlace(null, [left])).toEqual({ width: 1280, height: 800, maximized: false });
  });

  it('is kept on whichever display it lies', () => {
    const place = { x: 2000, y: 50, width: 1000, height: 700, maximized: true };
    expect(validPlace(place, [left, right])).toEqual(place);
  });

  it('loses its position with its display, and is cut to the one there is', () => {
    const place = { x: 2000, y: 50, width: 2500, height: 1400, maximized: false };
    expect(validPlace(place, [left])).toEqual({ width: 1920, height: 1080, maximized: false });
  });

  it('does not open where its title bar cannot be grabbed', () => {
    expect(
      validPlace({ x: 100, y: -200, width: 1000, height: 700, maximized: false }, [left]),
    ).not.toHaveProperty('y');
    expect(
      validPlace({ x: 1890, y: 0, width: 1000, height: 700, maximized: false }, [left]),
    ).not.toHaveProperty('x');
  });

  it('is never smaller than the page works in', () => {
    expect(validPlace({ x: 0, y: 0, width: 10, height: 10, maximized: false }, [left])).toMatchObject({
      width: 900,
      height: 600,
    });
  });
});

describe('settings', () => {
  const noLog = (line: string) => {
    throw new Error(line);
  };

  it('are kept whole, readable by the owner only', () => {
    const file = path.join(folder, 'settings.json');
    const first = openSettings(file, noLog);
    const seen: string[] = [];
    first.onChange((settings) => seen.push(settings.theme));
    expect(first.change({ theme: 'dark', closeToTray: undefined })).toEqual({
      closeToTray: 'ask',
      notificationsPaused: false,
      theme: 'dark',
    });
    first.rememberWindow({ x: 5, y: 6, width: 1000, height: 700, maximized: false });
    const second = openSettings(file, noLog);
    expect(second.get().theme).toBe('dark');
    expect(second.window()).toEqual({ x: 5, y: 6, width: 1000, height: 700, maximized: false });
    expect(seen).toEqual(['dark']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['settings.json']);
  });

  it('take what is missing from the defaults and leave alone what is newer', () => {
    const file = path.join(folder, 'settings.json');
    writeFileSync(file, JSON.stringify({ settings: { theme: 'light' }, newer: { thing: 1 } }));
    expect(openSettings(file, noLog).get()).toEqual({
      closeToTray: 'ask',
      notificationsPaused: false,
      theme: 'light',
    });
  });

  it('set a file that cannot be read aside', () => {
    const file = path.join(folder, 'settings.json');
    writeFileSync(file, '{ "settings": { "theme": "pink" } }');
    const lines: string[] = [];
    expect(
      openSettings(
        file,
        (line) => lines.push(line),
        () => 42,
      ).get().theme,
    ).toBe('system');
    expect(readFileSync(`${file}.unreadable-42`, 'utf8')).toContain('pink');
    expect(lines[0]).toContain('settings.json.unreadable-42');
  });

  it('stay as they were when they cannot be written', () => {
    writeFileSync(path.join(folder, 'file'), '');
    const settings = openSettings(path.join(folder, 'file', 'settings.json'), () => undefined);
    expect(() => settings.change({ theme: 'dark' })).toThrow();
    expect(settings.get().theme).toBe('system');
  });
});

describe('the log', () => {
  it('is bounded, one entry a line, without control characters', () => {
    const log = openRotatingLog(path.join(folder, 'logs', 'desktop.log'), 200, () => new Date(0));
    for (let line = 0; line < 20; line++) log.write('warn', `line ${line} \u001b[31mred`);
    expect(readdirSync(path.join(folder, 'logs')).sort()).toEqual(['desktop.log', 'desktop.log.1']);
    const text = readFileSync(log.file, 'utf8');
    expect(text.length).toBeLessThan(300);
    expect(text).toContain('1970-01-01T00:00:00.000Z warn line 19 ?[31mred\n');
    expect(statSync(log.file).mode & 0o777).toBe(0o600);
  });
});

describe('starting and stopping', () => {
  it('undoes the steps backwards, each waited for, a failing one logged', async () => {
    const done: string[] = [];
    const lines: string[] = [];
    const lifecycle = createLifecycle((line) => lines.push(line));
    for (const name of ['one', 'two', 'three']) {
      await lifecycle.step(name, () => ({
        value: name,
        dispose: async () => {
          await Promise.resolve();
          done.push(name);
          if (name === 'two') throw new Error('stuck');
        },
      }));
    }
    expect(await lifecycle.stop(1000)).toEqual([]);
    expect(done).toEqual(['three', 'two', 'one']);
    expect(lines.join()).toContain('Stopping two failed: Error: stuck');
    await expect(lifecycle.step('late', () => ({ value: 1 }))).rejects.toThrow('late came after shutdown');
  });

  it('does not wait beyond the deadline, but calls every disposer', async () => {
    const done: string[] = [];
    const lifecycle = createLifecycle(() => undefined);
    await lifecycle.step('first', () => ({ value: 1, dispose: () => void done.push('first') }));
    await lifecycle.step('hung', () => ({ value: 1, dispose: () => new Promise<void>(() => undefined) }));
    expect(await lifecycle.stop(20)).toContain('hung');
    expect(done).toEqual(['first']);
  });
});

describe('small decisions', () => {
  it('accepts --no-sandbox from root in a checkout alone', () => {
    expect(chooseSandbox(false, true, 1000)).toEqual({ kind: 'on' });
    expect(chooseSandbox(false, false, 0)).toEqual({ kind: 'on' });
    expect(chooseSandbox(true, false, 0).kind).toBe('off');
    expect(chooseSandbox(true, true, 0).kind).toBe('refused');
    expect(chooseSandbox(true, false, 1000).kind).toBe('refused');
    expect(chooseSandbox(true, false, undefined).kind).toBe('refused');
  });

  it('reads arguments in either form and leaves foreign ones alone', () => {
    expect(parseArguments(['--inspect=0', '--home', '/data', '--open-job=/ann/x', '--hidden'])).toEqual({
      home: '/data',
      example: false,
      openJob: '/ann/x',
      newJob: false,
      hidden: true,
      noSandbox: false,
    });
    expect(parseArguments(['--home', '--example'])).toMatchObject({ home: undefined, example: true });
    expect(parseArguments([], { IRIS_EXAMPLE: '1' }).example).toBe(true);
  });

  it.each([
    ['0.1.0', '0.2.0', true],
    ['0.10.0', '0.9.0', false],
    ['1.0.0', '1.0.0', false],
    ['0.1.0-beta', '0.1.1', true],
    ['unknown', '1.0.0', false],
  ])('%s is older than %s: %s', (left, right, expected) => {
    expect(isOlderVersion(left, right)).toBe(expected);
  });

  it('reads the name of a display', () => {
    expect(parseDisplay(':1')).toEqual({ host: '', number: 1, screen: 0 });
    expect(parseDisplay('host:12.3')).toEqual({ host: 'host', number: 12, screen: 3 });
    expect(parseDisplay('wayland-0')).toBeNull();
  });

  it('finds the cookie of a display, and none in a file cut short', () => {
    const entry = (family: number, address: string, number: string, data: string) => {
      const head = Buffer.alloc(2);
      head.writeUInt16BE(family);
      const fields = [address, number, 'MIT-MAGIC-COOKIE-1', data].map((text) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(text.length);
        return Buffer.concat([length, Buffer.from(text)]);
      });
      return Buffer.concat([head, ...fields]);
    };
    const file = Buffer.concat([
      entry(256, 'desk', '0', 'zero'),
      entry(256, 'other', '1', 'no'),
      entry(0xffff, '', '', 'any'),
    ]);
    expect(findCookie(file, 0, 'desk')?.toString()).toBe('zero');
    expect(findCookie(file, 1, 'desk')?.toString()).toBe('any');
    expect(findCookie(file.subarray(0, 20), 0, 'desk')).toBeNull();
  });
});
