/** `serve`: the host itself, in the foreground, until it is asked to stop. */
import type { Context } from '../context.js';
import { refuseOtherCluster } from '../host-link.js';

export async function serveCommand(context: Context): Promise<number> {
  const { output } = context;
  refuseOtherCluster(context.globals.cluster, 'local');
  // Loaded here alone: the other commands do not need the controller and its database.
  const { runHeadless } = await import('../../headless-host.js');
  return await runHeadless({
    home: context.globals.home,
    ready: (socket) => {
      if (output.json) void output.value({ socket, pid: process.pid });
      else
        void output.note(`the host of ${context.home.root} answers on ${socket} (process ${process.pid}).`);
    },
    failed: (reason) => void output.refusal(reason),
  });
}
