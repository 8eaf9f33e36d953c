/** `status` and `shutdown`: about the host itself. */
import { setTimeout as pause } from 'node:timers/promises';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import type { HostStatus } from '../../../core/contract/views.js';
import { formatDuration } from '../../../core/formats/durations.js';
import { readProcess } from '../../machine/processes.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { isoTime, printable } from '../format.js';

const lookAgainMs = 20;
/** Each part of a host has 5 s to end, and they end one after the other. */
const mostEndingMs = 60_000;

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

/** Whether that very process lives; one that cannot be seen from here is taken for gone. */
function processWatch(pid: number): () => boolean {
  const seen = readProcess(pid)?.startTicks;
  return () => seen !== undefined && readProcess(pid)?.startTicks === seen;
}

const stillThere = (root: string, pid: number): string =>
  `The host of ${root} (process ${pid}) answers no more, but has not ended within ${mostEndingMs / 1000} s: the folder may still be its own. Running jobs go on.`;

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
  const isThere = processWatch(host.pid);
  await connection.call('shutdown', { reason: 'irisctl shutdown' }).catch((error: unknown) => {
    // It may be gone before its answer is through.
    if (!(error instanceof RefusalError) || error.refusal.code !== 'DISCONNECTED') throw error;
  });
  await connection.ended;
  // It lets go of its connections first and of its folder last.
  const until = performance.now() + mostEndingMs;
  while (isThere()) {
    if (performance.now() > until)
      throw new RefusalError(refusal('UNAVAILABLE', stillThere(home.root, host.pid)));
    await pause(lookAgainMs);
  }
  if (output.json) await output.value({ stopped: true, home: home.root, pid: host.pid });
  else
    await output.text(
      `The host of ${home.root} (process ${host.pid}) has ended; running jobs go on, waiting ones wait for the next host.\n`,
    );
  return exitCodes.ok;
}
