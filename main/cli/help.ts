/** Help texts that commander does not make. */
import { runFlags } from '../../core/contract/job-text.js';

export function runHelp(): string {
  const rows = runFlags
    .filter((flag) => flag.refused === null && !flag.ignored)
    .map((flag) => {
      const names = [flag.name, ...flag.aliases].join(', ');
      return [
        flag.valueName === null ? names : `${names} ${flag.valueName}`,
        `${flag.help}${flag.repeatable && flag.takesValue ? ' (repeatable)' : ''}`,
      ] as const;
    });
  const own = [
    [
      '--prefix, --no-prefix',
      'each line after the number of its task (default: on a terminal, for several tasks)',
    ],
    ['--json', 'the end as JSON on standard output; the log goes to standard error'],
  ] as const;
  const all = [...rows, ...own];
  const width = Math.min(34, Math.max(...all.map(([names]) => names.length)));
  const lines = all.map(([names, help]) =>
    names.length > width
      ? `  ${names}\n  ${' '.repeat(width)}  ${help}`
      : `  ${names.padEnd(width)}  ${help}`,
  );
  return `Usage: irisctl job run [flags] [--] PROGRAM [ARGUMENTS]

Runs a command as a job in the current folder, prints its output, and ends with its exit code:
the first failed task's own, 128+n for a signal, 124 for a time limit, 126 not executable,
127 not found, 125 when it was refused or never ran, 130 after Ctrl-C, which stops the job.

Flags (--flag VALUE or --flag=VALUE):
${lines.join('\n')}

The environment is not copied, but HF_TOKEN and WANDB_API_KEY are when set.
`;
}
