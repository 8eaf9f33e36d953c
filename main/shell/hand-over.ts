/** After the desktop's controller has ended: a headless one takes the folder, so that waiting jobs still start. */
import { dialog } from 'electron';
import { startHost } from '../cli/start-host.js';
import type { Home } from '../home.js';
import { builtModule } from '../modules.js';

/** Asked for by this process alone; a host that lives on must not take it for its own. */
const ownVariables = ['IRIS_EXAMPLE', 'IRIS_HEADLESS_DISPLAY', 'IRIS_RUNTIME_KIND'];

/** Starts the headless controller and waits until it answers. When none does, that is said: nothing waiting would start. */
export async function handOverOrSay(
  home: Home,
  log: (level: 'info' | 'error', line: string) => void,
  unattended: boolean,
): Promise<void> {
  try {
    await handOver(home, process.execPath);
    log('info', 'A headless controller took over.');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log('error', `No headless controller took over: ${reason}`);
    if (unattended) return;
    dialog.showErrorBox(
      'Nothing watches the queue now',
      `Running jobs keep running, but waiting ones do not start until Iris Desktop or irisctl runs again: ${reason}`,
    );
  }
}

/** Resolves when the host answers; rejects with the reason when none does. */
async function handOver(home: Home, executable: string): Promise<void> {
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !ownVariables.includes(name)),
  );
  const connection = await startHost(home, { executable, script: builtModule('headless') }, environment);
  connection.close();
}
