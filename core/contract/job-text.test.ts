import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  joinWords,
  parseCommandText,
  parseRunArguments,
  runFlags,
  splitWords,
  toCommandLine,
} from './job-text.js';
import { parseJobRequest, type JobRequest } from './job-request.js';
import type { Result } from './errors.js';

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
function message(result: Result<unknown>): string {
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
  return result.refusal.message;
}

describe('splitWords', () => {
  it.each<[string, string[]]>([
    ['python train.py', ['python', 'train.py']],
    ['  a   b\tc\n d ', ['a', 'b', 'c', 'd']],
    [`sh -c 'echo out; echo err >&2; exit 3'`, ['sh', '-c', 'echo out; echo err >&2; exit 3']],
    [`echo "a \\"b\\" $" 'c d'e`, ['echo', 'a "b" $', 'c de']],
    ['python \\\n  train.py \\\r\n  --lr 1e-4', ['python', 'train.py', '--lr', '1e-4']],
    [`a '' ""`, ['a', '', '']],
    ['a\\ b', ['a b']],
    ['train \\', ['train']],
    ['', []],
  ])('%j', (text, words) => {
    expect(value(splitWords(text)).words).toEqual(words);
  });

  it('names what only a shell would act on, and nothing inside single quotes', () => {
    expect(value(splitWords('cat *.txt | wc -l > ~/n && echo "$HOME" `date`')).shellOnly).toEqual([
      '*',
      '|',
      '>',
      '~',
      '&&',
      '$HOME',
      '`',
    ]);
    expect(value(splitWords(`sh -c 'a | b > $HOME/*'`)).shellOnly).toEqual([]);
    expect(value(splitWords('python a.py --ratio=1:2 a~b x#y')).shellOnly).toEqual([]);
  });

  it('refuses an unclosed quote and shows where', () => {
    expect(message(splitWords(`python -c 'print(1)`))).toBe(`The command has an unclosed ' at: 'print(1)`);
  });

  it('reads back every word it quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
        expect(value(splitWords(joinWords(words)))).toEqual({ words, shellOnly: [] });
      }),
    );
  });
});

describe('parseRunArguments', () => {
  it('reads a line as the original users type it, without --', () => {
    const parsed = value(
      parseRunArguments(['--cpu=4', '--memory=8G', '--extra=cpu', 'python', 'train.py', '--lr', '3']),
    );
    expect(parsed.request).toEqual({ cpu: 4, memory: '8G', extras: ['cpu'] });
    expect(parsed.command).toEqual(['python', 'train.py', '--lr', '3']);
    expect(parsed.options).toEqual({ noWait: false, terminateOnExit: true, dryRun: false });
  });

  it('takes everything after -- as the command, flags of ours included', () => {
    const parsed = value(parseRunArguments(['--replicas', '4', '--', '--cpu', '3']));
    expect(parsed.request).toEqual({ replicas: 4 });
    expect(parsed.command).toEqual(['--cpu', '3']);
  });

  it('reads every form of -e', () => {
    const parsed = value(
      parseRunArguments(['-e', 'A', '1', '-e', 'B=2=3', '--env=C=4', '-e', 'D', '-5', '-e', 'E=', 'true']),
    );
    expect(parsed.request.environment).toEqual({ A: '1', B: '2=3', C: '4', D: '-5', E: '' });
    expect(parsed.command).toEqual(['true']);
  });

  it('does not let an empty shell variable after -e eat the next flag or the separator', () => {
    expect(message(parseRunArguments(['-e', 'TOKEN', '--', 'python']))).toBe(
      '-e TOKEN has no value: -- follows. Write -e TOKEN=VALUE (or TOKEN= for an empty one).',
    );
    expect(message(parseRunArguments(['-e', 'TOKEN', '--cpu=1', 'python']))).toContain(
      '-e TOKEN has no value: --cpu=1 follows',
    );
    expect(message(parseRunArguments(['-e', '--cpu', '1']))).toBe(
      '-e needs a value (-e KEY VALUE), but --cpu follows.',
    );
  });

  it('makes constraints of places and preemptible', () => {
    const parsed = value(
      parseRunArguments([
        '--region',
        'eu',
        '--zone=a',
        '--region=us',
        '--preemptible',
        '--no-preemptible',
        '--constraint',
        'nvme',
        'x',
      ]),
    );
    expect(parsed.request.constraints).toEqual([
      { key: 'zone', op: 'EQ', values: ['a'] },
      { key: 'region', op: 'IN', values: ['eu', 'us'] },
      { key: 'preemptible', op: 'EQ', values: ['false'], mode: 'REQUIRED' },
      { key: 'nvme', op: 'EXISTS', values: [], mode: 'REQUIRED' },
    ]);
  });

  it('reads and writes what is said of shared GPUs', () => {
    const argv = ['--gpu', '1', '--share-gpu', '--gpu-memory', '8GB', 'x'];
    expect(value(parseRunArguments(argv)).request).toEqual({ gpu: 1, shareGpu: true, gpuMemory: '8GB' });
    const request = { command: ['x'], workingDirectory: '/w', gpu: 1, shareGpu: true, gpuMemory: '8GB' };
    expect(toCommandLine(request).text).toContain('--share-gpu --gpu-memory 8GB');
  });

  it('reads the options and the flags without effect', () => {
    const parsed = value(
      parseRunArguments(['--no-wait', '--no-terminate-on-exit', '--enable-extra-resources', 'x']),
    );
    expect(value(parseRunArguments(['--dry-run', 'x'])).options.dryRun).toBe(true);
    expect(parsed.options).toEqual({ noWait: true, terminateOnExit: false, dryRun: false });
    expect(parsed.ignored).toEqual(['--enable-extra-resources']);
    expect(parsed.request).toEqual({});
  });

  it.each<[string[], string]>([
    [['--memroy', '8G', 'x'], '--memroy is no flag of job run; did you mean --memory?'],
    [['--retries=3', 'x'], '--retries is no flag of job run'],
    [['-x', 'y'], '-x is no flag of job run; flags of the command itself go after --.'],
    [['--cpu', 'four', 'x'], '--cpu four: expected a number of cores, such as 4 or 0.5.'],
    [['--memory', '8X', 'x'], '--memory 8X: expected a size such as 512M, 8G'],
    [['--replicas', '0', 'x'], '--replicas 0: expected a whole number from 1 to 10000.'],
    [['--timeout', 'soon', 'x'], '--timeout soon: expected a duration such as'],
    [
      ['--priority', 'urgent', 'x'],
      '--priority urgent: expected system, production, interactive, batch or inherit.',
    ],
    [['--priority', '', 'x'], '--priority : expected'],
    [['-e', '1A', 'v', 'x'], '-e 1A=v: expected names of letters, digits and _'],
    [['--cpu'], '--cpu needs a value (--cpu CORES), but nothing follows.'],
    [['--cpu', '--', 'x'], '--cpu needs a value (--cpu CORES), but -- follows.'],
    [['--cpu', '1', '--cpu=2', 'x'], '--cpu is given twice (again as 2); give it once.'],
    [['--no-wait=yes', 'x'], '--no-wait takes no value, but has yes; write --no-wait alone.'],
    [['--tpu', 'v5e-4', 'x'], '--tpu cannot be used: there are no TPUs here'],
    [
      ['--mount', 'data:/data', 'x'],
      '--mount data:/data: expected SOURCE:TARGET or SOURCE:TARGET:ro, both absolute paths',
    ],
    [['--processes-per-task', '2', 'x'], '--processes-per-task cannot be used'],
    [['--constraint', '=x', 'x'], '--constraint =x: expected key=value'],
    [['--working-directory', 'rel', 'x'], '--working-directory rel: expected an absolute path.'],
  ])('refuses %j', (argv, text) => {
    expect(message(parseRunArguments(argv))).toContain(text);
  });

  it("accepts the original's default of a flag it lacks", () => {
    expect(value(parseRunArguments(['--processes-per-task=1', 'x'])).command).toEqual(['x']);
  });

  it.each<[string, number, string]>([
    ['rtx4090', 1, 'rtx4090'],
    ['rtx3090x2', 2, 'rtx3090'],
    ['H100x8', 8, 'h100'],
    ['a100-80gb', 1, 'a100-80gb'],
  ])('reads --gpu %s as %i of %s', (text, gpuCount, gpuVariant) => {
    const { request, command } = value(parseRunArguments(['--gpu', text, 'x']));
    expect(value(parseJobRequest({ ...request, command, workingDirectory: '/w' }))).toMatchObject({
      gpuCount,
      gpuVariant,
    });
  });

  it('knows each flag once', () => {
    const names = runFlags.flatMap((flag) => [flag.name, ...flag.aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('parseCommandText', () => {
  it('takes a plain command of several lines, with its leading environment', () => {
    const parsed = value(parseCommandText('$ CUDA_VISIBLE_DEVICES=0 A="b c" python train.py \\\n --lr 3'));
    expect(parsed.command).toEqual(['python', 'train.py', '--lr', '3']);
    expect(parsed.request).toEqual({ environment: { CUDA_VISIBLE_DEVICES: '0', A: 'b c' } });
    expect(parsed.isRunCommand).toBe(false);
  });

  it.each([
    ['A=1 python train.py > log.txt 2>&1 &', 'python train.py > log.txt 2>&1 &', []],
    ['$ A="b c" \\\n  sh run.sh | tee log', 'sh run.sh | tee log', []],
    ['OUT=$HOME/x B=1 python train.py', 'python train.py', ['$HOME']],
    ['irisctl job run -e A $B -- "my prog" *.txt ', '"my prog" *.txt ', ['$B']],
    ["python '' x", "python '' x", []],
    ['irisctl job run --cpu 4', '', []],
  ])('keeps of %j the command as it was written', (text, commandText, shellOnlyBefore) => {
    expect(value(parseCommandText(text))).toMatchObject({ commandText, shellOnlyBefore });
  });

  it.each([
    'irisctl job run --cpu 4 -- python train.py',
    'iris --cluster=marin job run --cpu 4 -- python train.py',
    'uv run iris --cluster marin -v job run --cpu=4 python train.py',
    'npm run -s irisctl -- job run --cpu 4 python train.py',
    './node_modules/.bin/irisctl job run --cpu 4 python train.py',
  ])('reads the flags of %j', (line) => {
    const parsed = value(parseCommandText(line));
    expect(parsed.isRunCommand).toBe(true);
    expect(parsed.request).toEqual({ cpu: 4 });
    expect(parsed.command).toEqual(['python', 'train.py']);
  });

  it('names the place a pasted line would have gone to', () => {
    expect(value(parseCommandText('iris --cluster=marin --config c.yaml job run true')).unused).toEqual([
      '--cluster=marin',
      '--config c.yaml',
    ]);
  });

  it('leaves other commands of iris and other programs alone', () => {
    expect(value(parseCommandText('iris job list')).isRunCommand).toBe(false);
    expect(value(parseCommandText('python iris job run')).command).toEqual(['python', 'iris', 'job', 'run']);
    expect(value(parseCommandText('A=1')).command).toEqual(['A=1']);
  });
});

describe('toCommandLine', () => {
  it('writes only what differs from the defaults, quoted', () => {
    const line = toCommandLine({
      command: ['python', 'train.py', '--note', "it's"],
      workingDirectory: '/home/ann/my run',
      cpu: 4,
      memory: '8G',
      replicas: 1,
      maxRetries: 0,
      priority: 'INHERIT',
      environment: { A: 'b c' },
      extras: [],
      files: [{ path: 'a', contentBase64: 'YQ==' }],
    });
    expect(line.text).toBe(
      `irisctl job run --cpu 4 --memory 8G -e A 'b c' --working-directory '/home/ann/my run' -- python train.py --note 'it'\\''s'`,
    );
    expect(line.leftOut).toEqual(['files']);
  });

  it('writes a line that reads back to the same specification', () => {
    const wish = fc.oneof(
      fc.record({
        key: fc.constantFrom('zone', 'region', 'gpu-model'),
        op: fc.constant('EQ' as const),
        values: fc.tuple(fc.constantFrom('a', 'b c', '12')),
      }),
      fc.record({
        key: fc.constant('memory'),
        op: fc.constantFrom('GT' as const, 'LE' as const),
        values: fc.tuple(fc.integer()),
      }),
      fc.record({
        key: fc.constant('nvme'),
        op: fc.constantFrom('EXISTS' as const, 'NOT_EXISTS' as const),
        mode: fc.constantFrom('REQUIRED' as const, 'PREFERRED' as const),
      }),
      fc.record({
        key: fc.constant('rack'),
        op: fc.constant('IN' as const),
        values: fc.constantFrom<(string | number)[]>(['x', 2], ['7', 'y']),
      }),
    );
    const requests: fc.Arbitrary<JobRequest> = fc.record(
      {
        command: fc.array(
          fc.string({ minLength: 1 }).filter((word) => word.trim() !== '' && !word.includes('\0')),
          { minLength: 1 },
        ),
        workingDirectory: fc.constant('/w'),
        name: fc.constantFrom('a', 'b c', '--cpu', '--', '-e'),
        cpu: fc.constantFrom(1, 0.5, 32),
        memory: fc.constantFrom('8G', '512MiB', 1024),
        disk: fc.constantFrom('1T'),
        gpu: fc.constantFrom<NonNullable<JobRequest['gpu']>>(
          1,
          'H100x8',
          'a100-80gb',
          { count: 2, variant: 'rtx-4090' },
          { count: 3 },
        ),
        replicas: fc.integer({ min: 1, max: 10_000 }),
        maxRetries: fc.integer({ min: 0, max: 1000 }),
        timeout: fc.constantFrom('90s', 60, '1h30m'),
        schedulingTimeout: fc.constantFrom('1d'),
        finishBy: fc.constantFrom('2026-12-01T08:00Z', '8h'),
        startNotBefore: fc.constantFrom('2026-12-01T08:00:30+01:00', 90),
        held: fc.boolean(),
        maxActive: fc.integer({ min: 1, max: 10_000 }),
        // In the order the flags are written.
        dependencies: fc.constantFrom<NonNullable<JobRequest['dependencies']>>(
          [{ job: 'prep' }, { job: '/ann/x y', on: 'SUCCESS' }, { job: 'b', on: 'END' }],
          [{ job: 'a', on: 'FAILURE' }],
        ),
        priority: fc.constantFrom('batch', 'PRODUCTION'),
        environment: fc.dictionary(
          fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,5}$/),
          fc.oneof(
            fc.string().filter((text) => !text.includes('\0')),
            fc.constantFrom('--cpu', '--', '-e', '--gpu=1', '-'),
          ),
        ),
        constraints: fc.uniqueArray(wish, { maxLength: 3, selector: (item) => item.key }),
        extras: fc.array(fc.constantFrom('cpu', 'gpu')),
        ports: fc.uniqueArray(fc.constantFrom('http', 'grpc')),
        gangBy: fc.constantFrom('rack'),
        grace: fc.constantFrom('5s'),
      },
      { requiredKeys: ['command', 'workingDirectory'] },
    );
    fc.assert(
      fc.property(requests, (asked) => {
        // Of a gang all tasks may be active.
        const request = asked.gangBy === undefined ? asked : { ...asked, maxActive: 10_000 };
        const line = toCommandLine(request);
        expect(line.leftOut).toEqual([]);
        const read = value(parseCommandText(line.text));
        const before = value(parseJobRequest(request));
        const after = value(parseJobRequest({ ...read.request, command: read.command }));
        const byKey = (items: typeof before.constraints) =>
          [...items].sort((left, right) => left.key.localeCompare(right.key));
        expect({ ...after, constraints: byKey(after.constraints) }).toEqual({
          ...before,
          constraints: byKey(before.constraints),
        });
      }),
    );
  });
});
