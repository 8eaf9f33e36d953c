/** `status` and `shutdown`: about the host itself. */
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import type { HostStatus } from '../../../core/contract/views.js';
import { formatDuration } from '../../../core/formats/durations.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { isoTime, printable } from '../format.js';

/** Starts nothing: it tells how things are. */
export async function statusCommand(context: Context): Promise<number> {
  const { output } = context;
  const connection = await context.link.openIfLive();
  if (connection === null) {
    if (output.json) await output.value({ running: false, home: context.home.root });
    else
      await output.text(
        `No host runs for ${context.home.root}; a job, the window or irisctl serve starts one.\n`,
      );
    return exitCodes.notRunning;
  }
  const status = await connection.call('status', {});
  if (output.json) await output.value({ running: true, ...status });
  else await output.text(statusText(status, context.nowMs()));
  return exitCodes.ok;
}

export function statusText(status: HostStatus, nowMs: number): string {
  const { counts } = status;
  const rows: [string, string][] = [
    ['Cluster', status.clusterName],
    [
      'Host',
      `${status.host}, process ${status.pid}, up ${formatDuration(nowMs - status.startedAtMs)} (since ${isoTime(status.startedAtMs)})`,
    ],
    ['Version', `${status.appVersion} on ${status.runtime}`],
    ['Health', status.healthy ? 'healthy' : status.health],
    ['Jobs', `${counts.running} running, ${counts.waiting} waiting, ${counts.finished} finished`],
    ['User', status.user],
    ['Data folder', status.home],
    [
      'Database',
      Object.entries(status.pragmas)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

export async function shutdownCommand(context: Context): Promise<number> {
  const { output, home } = context;
  const connection = await context.link.openIfLive();
  if (connection === null) {
    if (output.json) await output.value({ stopped: false, home: home.root });
    else await output.text(`No host runs for ${home.root}.\n`);
    return exitCodes.ok;
  }
  const { host } = connection;
  if (host.host === 'desktop') {
    throw new RefusalError(
      refusal(
        'FAILED_PRECONDITION',
        `The host of ${home.root} is the window (process ${host.pid}); end it with Quit in its menu or tray.`,
      ),
    );
  }
  await connection.call('shutdown', { reason: 'irisctl shutdown' }).catch((error: unknown) => {
    // It may be gone before its answer is through.
    if (!(error instanceof RefusalError) || error.refusal.code !== 'DISCONNECTED') throw error;
  });
  await connection.ended;
  if (output.json) await output.value({ stopped: true, home: home.root, pid: host.pid });
  else
    await output.text(
      `The host of ${home.root} (process ${host.pid}) has ended; running jobs go on, waiting ones wait for the next host.\n`,
    );
  return exitCodes.ok;
}
