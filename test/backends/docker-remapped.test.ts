/** An Engine whose containers have numbers of users of their own (`userns-remap`): jobs run with the machine's all the same. */
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  dockerBackends,
  noEngine,
  ownEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';

const user = 'iris-remapped';
const longMs = 120_000;

/** The user and its subordinate numbers are there for the Engine alone, in a view of its own of /etc. */
function remappedDockerd(folder: string): void {
  for (const name of ['passwd', 'group']) copyFileSync(path.join('/etc', name), path.join(folder, name));
  appendFileSync(path.join(folder, 'passwd'), `${user}:x:64910:64910::/:/bin/false\n`);
  appendFileSync(path.join(folder, 'group'), `${user}:x:64910:\n`);
  writeFileSync(path.join(folder, 'subuid'), `${user}:200000:65536\n`);
  copyFileSync(path.join(folder, 'subuid'), path.join(folder, 'subgid'));
  const inside = [
    'mount --make-rprivate /',
    // Its own numbers have to get at its data.
    'for each; do case $each in */data) chmod 711 "${each%/data}";; esac; done',
    'for each in passwd group subuid subgid; do [ -e /etc/$each ] || : >/etc/$each; mount --bind "$0/$each" /etc/$each; done',
    'PATH=${PATH#"$0":}; exec dockerd "$@"',
  ].join('; ');
  const text = `#!/bin/sh\nexec unshare -m sh -c '${inside}' '${folder}' "$@"\n`;
  writeFileSync(path.join(folder, 'dockerd'), text, { mode: 0o755 });
}

describe.skipIf(noEngine)(withEngine('an Engine with numbers of users of its own'), () => {
  let folder: string;
  let engine: OwnEngine;
  let backends: DockerBackends;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'iris-remapped-'));
    remappedDockerd(folder);
    engine = await ownEngine([`--userns-remap=${user}`], folder);
  }, longMs);
  afterAll(async () => {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }, longMs);
  beforeEach(async () => {
    backends = await dockerBackends(engine);
  });
  afterEach(() => backends.dispose());

  test('runs set-up and command as who runs us, and what they leave is theirs', async () => {
    expect(await engine.docker('info', '-f', '{{.SecurityOptions}}')).toContain('name=userns');
    const probe = await backends.open();
    const launch = backends.launch({
      command: ['sh', '-c', 'cat ready; id -u; echo made >made'],
      setup: ['echo set up >ready'],
    });
    probe.run(launch);
    expect(await probe.over(launch.uid, longMs)).toMatchObject({ state: 'SUCCEEDED', cause: null });
    expect(await probe.text(launch.uid)).toBe(`[iris setup] step 1/1\nset up\n${process.getuid?.()}\n`);
    expect(readFileSync(path.join(backends.work, 'made'), 'utf8')).toBe('made\n');
    expect(statSync(path.join(backends.work, 'made')).uid).toBe(process.getuid?.());
  });
});
