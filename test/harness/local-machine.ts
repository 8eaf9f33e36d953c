/** A machine as if reached by SSH: its client is a script that runs what it is given here, with a home folder of its own. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { createSshMachine } from '../../main/backends/workstation/ssh/ssh-machine.js';
import type { SshMachineOptions } from '../../main/backends/workstation/ssh/ssh-machine-options.js';
import { LabProbe, quickLimits } from './lab.js';

export class LocalMachine {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'iris-local-machine-'));
  /** Of the controller. */
  readonly home = path.join(this.folder, 'controller');
  readonly said: string[] = [];
  private readonly open: LabProbe[] = [];

  /** `bytesPerSecond`: what goes there is no quicker. */
  constructor(bytesPerSecond?: number) {
    mkdirSync(this.home, { mode: 0o700 });
    mkdirSync(path.join(this.folder, 'home'), { mode: 0o700 });
    const slow = `while(sysread(STDIN,$b,4096)){syswrite(STDOUT,$b);select(undef,undef,undef,length($b)/${bytesPerSecond})}`;
    const line = bytesPerSecond === undefined ? 'exec ' : `perl -e '${slow}' | `;
    const script = `#!/bin/sh\n[ "$1" = -G ] && exit 1\nfor last; do :; done\nexport HOME='${this.folder}/home' DOCKER_HOST=unix:///nowhere\n${line}sh -c "$last"\n`;
    writeFileSync(path.join(this.folder, 'ssh'), script);
    chmodSync(path.join(this.folder, 'ssh'), 0o755);
  }

  /** The log of attempts there, one file or folder of it. */
  attempts(): string {
    return path.join(this.folder, 'home/.local/state/iris-desktop');
  }

  async probe(more: Partial<SshMachineOptions> = {}): Promise<LabProbe> {
    const note = (message: string) => void this.said.push(message);
    const probe = new LabProbe(
      createSshMachine({
        name: 'ws-here',
        address: 'ws-here',
        home: this.home,
        claimsFolder: 'none',
        log: { info: note, warn: note, error: note },
        nowMs: () => Date.now(),
        monotonicMs: () => performance.now(),
        client: { program: path.join(this.folder, 'ssh') },
        ...quickLimits,
        ...more,
      }),
    );
    this.open.push(probe);
    await probe.machine.start(probe);
    probe.reconcile();
    return probe;
  }

  async dispose(): Promise<void> {
    for (const probe of this.open.splice(0)) await probe.machine.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
