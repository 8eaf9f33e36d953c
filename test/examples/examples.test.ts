import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseJobRequest } from '../../core/contract/job-request.js';
import { yamlToRequest } from '../../core/contract/job-yaml.js';

const folder = resolve(import.meta.dirname, '..', '..', 'examples');
const requests = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
const execute = promisify(execFile);

describe('job requests', () => {
  it('are there, one an example', () => {
    expect(requests.sort()).toEqual(['replicas.yaml', 'sweep.yaml', 'train.yaml']);
  });

  it.each(requests)('%s is a job once it has a folder', async (name) => {
    const draft = yamlToRequest(await readFile(join(folder, name), 'utf8'), { draft: true });
    expect(draft.ok && parseJobRequest({ ...draft.value, workingDirectory: folder }).ok).toBe(true);
  });

  it('replicas.yaml asks for four tasks', async () => {
    const draft = yamlToRequest(await readFile(join(folder, 'replicas.yaml'), 'utf8'), { draft: true });
    expect(draft.ok && draft.value.replicas).toBe(4);
  });
});

describe('scripts', () => {
  it('train.py draws a bar in place and ends each epoch with its loss', async () => {
    const args = ['train.py', '--epochs', '2', '--seconds', '0.1'];
    const { stdout } = await execute('python3', args, { cwd: folder });
    const lines = stdout.split('\n').map((line) => line.slice(line.lastIndexOf('\r') + 1).trim());
    expect(lines[0]).toBe('training on 400 samples, 2 epochs, rate 0.5');
    expect(lines[1]).toMatch(/^epoch 1\/2 loss \d\.\d{4}$/);
    expect(lines[2]).toMatch(/^epoch 2\/2 loss \d\.\d{4}$/);
    expect(lines[3]).toMatch(/^done: loss \d\.\d{4}$/);
    expect(stdout).toContain('\repoch 2/2 [############............] 10/20');
  });

  it('replicas.sh counts every prime below the limit exactly once, retries included', async () => {
    const shares = await Promise.all(
      ['0', '1:2', '2', '3'].map(async (task) => {
        const env = {
          PATH: process.env['PATH'] ?? '',
          IRIS_TASK_ID: `/user/four/${task}`,
          IRIS_NUM_TASKS: '4',
        };
        const { stdout } = await execute('sh', ['replicas.sh', '1000'], { cwd: folder, env });
        return stdout;
      }),
    );
    expect(shares[1]).toMatch(/^task 1 of 4\nprimes from 250 to 499: \d+\n$/);
    const counts = shares.map((text) => Number(/: (\d+)\n$/.exec(text)?.[1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(168);
  });

  it('sweep.sh names the rate with the smallest loss', async () => {
    const { stdout } = await execute('sh', ['sweep.sh', '0.1'], { cwd: folder });
    const losses = [...stdout.matchAll(/^done: loss (\d\.\d{4})$/gm)].map((match) => match[1]);
    expect(losses).toHaveLength(3);
    expect(stdout).toContain(`with loss ${[...losses].sort()[0] ?? ''}`);
  });
});
