/** A second start of the application on a folder whose window is open. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolveRuntime } from '../../scripts/runtime.mjs';

export async function runSecondInstance(
  root: string,
  args: readonly string[],
  cwd?: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const runtime = resolveRuntime();
  const child = spawn(runtime.executable, [...runtime.args, '--home', root, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd,
    env: { ...process.env, ...runtime.env, IRIS_HEADLESS_DISPLAY: '1' },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
