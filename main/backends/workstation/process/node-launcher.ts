/** The launcher of Node (launcher.ts), which does everything about a start itself. */
import { spawn } from 'node:child_process';
import { messageOf } from './error-code.js';
import { endLauncher, type ChannelOptions, type LauncherChannel } from './launcher-channel.js';
import type { FromLauncher, ToLauncher } from './launcher-protocol.js';

export function openNodeLauncher(options: ChannelOptions): LauncherChannel {
  const { launcher } = options;
  let over = false;
  // A session of its own: what a terminal sends to the program in front of it is not meant for it.
  const child = spawn(launcher.command, launcher.args, {
    env: { ...launcher.env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });

  function lost(why: string): void {
    if (over) return;
    over = true;
    options.onLost(why);
  }

  function post(message: ToLauncher): void {
    // A failure to send is followed by the end of the channel, which is handled there.
    child.send(message, () => undefined);
  }

  child.on('message', (message: FromLauncher) => {
    if (over) return;
    if (message.kind === 'ready') options.onReady();
    else options.onEvents(message.events);
  });
  child.on('error', (error) => lost(`the launcher could not be used: ${messageOf(error)}`));
  child.on('exit', (code, signal) =>
    lost(`the launcher ended (${signal ?? `exit code ${code ?? 'unknown'}`})`),
  );
  post(options.setup);
  return {
    pid: child.pid,
    start: (items) => post({ kind: 'start', items }),
    kill: () => child.kill('SIGKILL'),
    close: () => {
      over = true;
      return endLauncher(child, () => {
        if (child.connected) child.disconnect();
        else child.kill('SIGKILL');
      });
    },
  };
}
