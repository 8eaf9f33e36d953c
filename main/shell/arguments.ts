/** What a start of the desktop asks for; unknown arguments (Chromium's, Electron's) are left alone. */
export interface StartArguments {
  readonly home: string | undefined;
  readonly example: boolean;
  /** Open this job's page. */
  readonly openJob: string | undefined;
  readonly newJob: boolean;
  /** Start in the tray without a window, as on login. */
  readonly hidden: boolean;
  readonly noSandbox: boolean;
}

export function parseArguments(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): StartArguments {
  return {
    home: valueOf(argv, '--home'),
    example: argv.includes('--example') || env['IRIS_EXAMPLE'] === '1',
    openJob: valueOf(argv, '--open-job'),
    newJob: argv.includes('--new-job'),
    hidden: argv.includes('--hidden'),
    noSandbox: argv.includes('--no-sandbox'),
  };
}

function valueOf(argv: readonly string[], flag: string): string | undefined {
  const joined = argv.find((item) => item.startsWith(`${flag}=`));
  if (joined !== undefined) return joined.slice(flag.length + 1) || undefined;
  const index = argv.indexOf(flag);
  const next = index === -1 ? undefined : argv[index + 1];
  return next === undefined || next.startsWith('--') ? undefined : next;
}
