/** A session bus beside the window, where the login brought none: it outlives the window, which quits badly without its bus. */
import { spawn } from 'node:child_process';

/** @returns {Promise<{env: Record<string, string>, stop: () => void} | null>} null where no bus can be had */
export async function startSessionBus() {
  const daemon = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', '--print-address=1'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    // Ctrl-C must end the window first, and the bus after it.
    detached: true,
  });
  const stop = () => {
    process.off('exit', stop);
    daemon.kill('SIGTERM');
  };
  process.once('exit', stop);
  const address = await new Promise((resolve) => {
    let text = '';
    daemon.on('error', () => resolve(null));
    daemon.on('exit', () => resolve(null));
    daemon.stdout.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('\n')) resolve(text.trim());
    });
  });
  if (address === null) {
    stop();
    return null;
  }
  daemon.unref();
  /** @type {import('node:net').Socket} */ (daemon.stdout).unref();
  return { env: { DBUS_SESSION_BUS_ADDRESS: address }, stop };
}
