/** Asks something on the session bus, by whichever of the systems' own tools is there: a part of ours would be loaded for two questions. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface BusQuestion {
  readonly name: string;
  readonly path: string;
  readonly interface: string;
  readonly method: string;
  /** The one argument there may be. */
  readonly text?: string;
}

export type BusEnvironment = Readonly<Record<string, string | undefined>>;

/** By absolute path: which of them is there differs between systems. */
const tools: readonly { readonly file: string; readonly args: (asked: BusQuestion) => readonly string[] }[] =
  [
    {
      file: '/usr/bin/gdbus',
      args: ({ name, path, interface: of, method, text }) => [
        ...['call', '--session', '--dest', name, '--object-path', path, '--method', `${of}.${method}`],
        ...(text === undefined ? [] : [text]),
      ],
    },
    {
      file: '/usr/bin/busctl',
      args: ({ name, path, interface: of, method, text }) => [
        ...['--user', 'call', name, path, of, method],
        ...(text === undefined ? [] : ['s', text]),
      ],
    },
    {
      file: '/usr/bin/dbus-send',
      args: ({ name, path, interface: of, method, text }) => [
        ...['--session', '--print-reply', `--dest=${name}`, path, `${of}.${method}`],
        ...(text === undefined ? [] : [`string:${text}`]),
      ],
    },
  ];

/** The answer as the tool prints it; null where there is no bus, no tool or no answer in time. */
export async function askSessionBus(
  asked: BusQuestion,
  env: BusEnvironment,
  timeoutMs: number,
): Promise<string | null> {
  // Without an address the tools might start a bus of their own, on which nobody ever is.
  if ((env['DBUS_SESSION_BUS_ADDRESS'] ?? '') === '' && (env['XDG_RUNTIME_DIR'] ?? '') === '') return null;
  for (const tool of tools) {
    if (!existsSync(tool.file)) continue;
    const text = await output(tool.file, tool.args(asked), env, timeoutMs);
    if (text !== null) return text;
  }
  return null;
}

function output(
  file: string,
  args: readonly string[],
  env: BusEnvironment,
  timeoutMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, [...args], { timeout: timeoutMs, env, encoding: 'utf8' }, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
  });
}
