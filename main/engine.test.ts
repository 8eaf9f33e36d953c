import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { burstFlags, compileAtOnceFlag, youngSpaceFlag } from './engine.js';

describe('the flags of the engine', () => {
  it('are all known to the engine at hand', () => {
    const flags = [...burstFlags(process.versions.v8), compileAtOnceFlag];
    const run = spawnSync(process.execPath, [...flags, '-p', '6 * 7'], { encoding: 'utf8' });
    expect({ status: run.status, out: run.stdout, err: run.stderr }).toEqual({
      status: 0,
      out: '42\n',
      err: '',
    });
    expect(flags).toContain(youngSpaceFlag);
  });

  it('speak of bytes or of calls, as the version counts', () => {
    expect(burstFlags('11.3.244.8-node.33')).toContain('--interrupt-budget=600000');
    expect(burstFlags('12.4.254.21-node.33')).toEqual([youngSpaceFlag]);
    for (const version of ['13.0.245.25-electron.0', '14.2.231.9-electron.0'])
      expect(burstFlags(version)).toEqual([
        youngSpaceFlag,
        '--invocation-count-for-maglev=3600',
        '--invocation-count-for-turbofan=27000',
      ]);
  });
});
