/** What the set-up scripts are made of, each run as plain Node runs it: in a process of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../harness/eventually.js';

const root = resolve(import.meta.dirname, '..', '..');
const scripts = join(root, 'scripts');
const execute = promisify(execFile);

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'iris-scripts-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function runModule(code: string): Promise<string> {
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
  return stdout.trim();
}

describe('unzip', () => {
  const unzip = JSON.stringify(join(scripts, 'lib', 'unzip.mjs'));

  async function makeArchive(code: string): Promise<void> {
    await execute('python3', ['-c', `import zipfile\nwith zipfile.ZipFile('a.zip', 'w') as z:\n${code}`], {
      cwd: folder,
    });
  }

  it('unpacks what is asked for, packed or stored, with its mode and under its new name', async () => {
    await makeArchive(
      [
        "  i = zipfile.ZipInfo('Other/Program'); i.external_attr = 0o100755 << 16",
        "  z.writestr(i, 'x' * 100000, zipfile.ZIP_DEFLATED)",
        "  z.writestr('Other/deep/note.txt', 'stored')",
        "  z.writestr('Other/left-out.bin', 'no')",
      ].join('\n'),
    );
    await runModule(
      `import { unzip } from ${unzip};
       await unzip('a.zip', 'out', (name) => name.includes('left-out') ? null : name.replace('Other/', '').toLowerCase());`,
    );
    expect((await readFile(join(folder, 'out', 'program'), 'utf8')).length).toBe(100_000);
    expect((await stat(join(folder, 'out', 'program'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(folder, 'out', 'deep', 'note.txt'), 'utf8')).toBe('stored');
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(['deep', 'program']);
  });

  it.each(['../out-of-it', '/tmp/iris-absolute'])('refuses %s, which leaves the folder', async (name) => {
    await makeArchive(`  z.writestr(${JSON.stringify(name)}, 'bad')`);
    const code = `import { unzip } from ${unzip}; await unzip('a.zip', 'out/deep', (name) => name);`;
    await expect(runModule(code)).rejects.toThrow('leaves its folder');
    expect(await readdir(folder)).toEqual(['a.zip']);
  });

  it('refuses what is no archive', async () => {
    await writeFile(join(folder, 'a.zip'), 'not an archive');
    const code = `import { unzip } from ${unzip}; await unzip('a.zip', 'out', (name) => name);`;
    await expect(runModule(code)).rejects.toThrow('no ZIP archive');
  });
});

describe('a checkout of the scripts alone', () => {
  // A copy has its own .runtime folder, so that this checkout is left alone.
  beforeEach(async () => {
    await execute('cp', ['-R', scripts, join(folder, 'scripts')]);
  });

  it('lets one command prepare at a time and takes over from those that were killed', async () => {
    const lock = join(folder, '.runtime', 'prepare.lock');
    const take = join(folder, 'take.mjs');
    await writeFile(
      take,
      `import { withPrepareLock } from './scripts/lib/lock.mjs';
       import { appendFileSync, existsSync } from 'node:fs';
       import { setTimeout as delay } from 'node:timers/promises';
       const note = (word) => appendFileSync('said', word + ' ' + process.pid + '\\n');
       appendFileSync('ready', '.');
       while (!existsSync('go'));
       await withPrepareLock(async () => { note('in'); await delay(Number(process.argv[2])); note('out'); });`,
    );
    const start = (ms: number) =>
      spawn(process.execPath, [take, String(ms)], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const said = async () => (await readFile(join(folder, 'said'), 'utf8').catch(() => '')).split('\n');

    await writeFile(join(folder, 'go'), '');
    const killed = start(600_000);
    await vi.waitFor(async () => expect(await said()).toContain(`in ${killed.pid}`), { timeout: 60_000 });
    killed.kill('SIGKILL');
    await once(killed, 'close');
    // Killed while it drew, and one whose number another process bears by now.
    await writeFile(join(lock, `drawing.${killed.pid}.1`), '');
    await writeFile(join(lock, `1.${process.pid}.1`), '');
    for (const name of ['said', 'ready', 'go']) await rm(join(folder, name));

    const children = Array.from({ length: 6 }, () => start(20));
    // All try in the same moment.
    await vi.waitFor(async () => expect((await stat(join(folder, 'ready'))).size).toBe(6), {
      timeout: 60_000,
    });
    await writeFile(join(folder, 'go'), '');
    await Promise.all(children.map((child) => once(child, 'close')));

    const lines = (await said()).filter((line) => line !== '');
    const turns = lines.filter((line) => line.startsWith('in ')).map((line) => line.slice(3));
    expect(lines).toEqual(turns.flatMap((pid) => [`in ${pid}`, `out ${pid}`]));
    expect(turns.sort()).toEqual(children.map((child) => String(child.pid)).sort());
    expect(await readdir(join(folder, '.runtime'))).toEqual([]);
  });

  it('installs packages without running what they bring along', async () => {
    const packed = { name: 'part', version: '1.0.0', scripts: { install: 'exit 1' } };
    await mkdir(join(folder, 'part'));
    await writeFile(join(folder, 'part', 'package.json'), JSON.stringify(packed));
    const dependencies = { part: 'file:part' };
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'whole', version: '1.0.0', dependencies }),
    );
    const packages = {
      '': { name: 'whole', version: '1.0.0', dependencies },
      'node_modules/part': { resolved: 'part', link: true },
      part: { version: '1.0.0', hasInstallScript: true },
    };
    await writeFile(
      join(folder, 'package-lock.json'),
      JSON.stringify({ name: 'whole', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
    );
    const said = await runModule(
      `import { prepareDependencies } from './scripts/prepare/dependencies.mjs';
       await prepareDependencies(() => undefined);
       console.log('installed');`,
    );
    expect(said).toBe('installed');
    expect(await readdir(join(folder, 'node_modules'))).toContain('part');
  });

  it('tells a change of what is built from, and only of that', async () => {
    await mkdir(join(folder, 'core'));
    await writeFile(join(folder, 'core', 'a.ts'), 'one');
    const digest = () =>
      runModule(
        `import { inputsDigest } from './scripts/lib/inputs.mjs'; console.log(inputsDigest(['core', 'absent']));`,
      );
    const before = await digest();
    expect(await digest()).toBe(before);
    await writeFile(join(folder, 'core', 'a.test.ts'), 'a test is no part of a bundle');
    expect(await digest()).toBe(before);
    await writeFile(join(folder, 'core', 'a.ts'), 'another');
    expect(await digest()).not.toBe(before);
  });

  it('announces the steps that are due, in order, and skips the others', async () => {
    await writeFile(
      join(folder, 'steps.mjs'),
      `import { runSteps } from './scripts/lib/step.mjs';
       const step = (title, due) => ({ title, due: () => due, run: async () => console.error('runs ' + title) });
       await runSteps([step('one', true), step('two', false), step('three', true)]);`,
    );
    const { stderr, stdout } = await execute(process.execPath, ['steps.mjs'], { cwd: folder });
    expect(stdout).toBe('');
    expect(stderr.replaceAll(/\d+\.\d s/g, 'N s')).toBe(
      '[1/3] one\nruns one\n      done in N s\n[3/3] three\nruns three\n      done in N s\nPrepared in N s.\n',
    );
  });
});

describe('run', () => {
  const run = JSON.stringify(join(scripts, 'lib', 'run.mjs'));

  /** The time limit strikes as the program has spoken, however long that takes: the timer of it is held. */
  const strikesWhenSaid = `
    const later = globalThis.setTimeout;
    let strike = () => undefined;
    globalThis.setTimeout = (act, ms) => {
      if (ms === 300) strike = act;
      return later(ms === 300 ? () => undefined : act, ms);
    };`;

  it('ends a program that takes too long together with its children', async () => {
    const said = await runModule(
      `import { run } from ${run};
       import { existsSync, readFileSync } from 'node:fs';
       ${strikesWhenSaid}
       const result = await run('sh', ['-c', 'sleep 60 & echo $!; wait'], { timeoutMs: 300, onLine: () => strike() });
       // Whoever adopts it may not have collected it yet: dead all the same.
       const stat = '/proc/' + result.output.trim() + '/stat';
       const alive = existsSync(stat) && !/\\) Z /.test(readFileSync(stat, 'utf8'));
       console.log(JSON.stringify([result.timedOut, result.code, alive]));`,
    );
    expect(said).toBe('[true,143,false]');
  });

  it('takes the program along when it is itself ended', async () => {
    const code = `import { run } from ${run};
      await run('sh', ['-c', 'echo $$; exec sleep 60'], { timeoutMs: 60_000, onLine: (line) => console.log(line) });`;
    const runner = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(runner.stdout, 'data');
    const sleeper = `/proc/${String(said).trim()}/stat`;
    // It says its number before it becomes that.
    await eventually(() => readFile(sleeper, 'utf8')).toContain('(sleep)');
    runner.kill('SIGTERM');
    expect(await once(runner, 'exit')).toEqual([143, null]);
    await eventually(() => readFile(sleeper, 'utf8').catch(() => ') Z ')).toContain(') Z ');
  });

  it('gives the exit code and the lines of both streams', async () => {
    const said = await runModule(
      `import { run } from ${run};
       const lines = [];
       const result = await run('sh', ['-c', 'echo a; echo b >&2; printf c; exit 3'], { onLine: (line) => lines.push(line) });
       console.log(JSON.stringify([result.code, lines.sort()]));`,
    );
    expect(said).toBe('[3,["a","b","c"]]');
  });
});

describe('a virtual display', () => {
  it('is there for who has the cookie and gone afterwards', async () => {
    const display = JSON.stringify(join(scripts, 'lib', 'display.mjs'));
    const said = await runModule(
      `import { startDisplay } from ${display};
       import { existsSync } from 'node:fs';
       const display = await startDisplay({ size: '320x200x24' });
       const socket = '/tmp/.X11-unix/X' + display.env.DISPLAY.slice(1);
       const during = [existsSync(socket), existsSync(display.env.XAUTHORITY)];
       display.stop();
       while (existsSync(socket)) await new Promise((next) => setTimeout(next, 20));
       console.log(JSON.stringify([during, existsSync(display.env.XAUTHORITY)]));`,
    );
    expect(said).toBe('[[true,true],false]');
  });
});
