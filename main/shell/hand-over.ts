/** After the desktop's controller has ended: a headless one takes the folder, so that waiting jobs still start. */
import { startHost } from '../cli/start-host.js';
import type { Home } from '../home.js';
import { builtModule } from '../modules.js';

/** Asked for by this process alone; a host that lives on must not take it for its own. */
const ownVariables = ['IRIS_EXAMPLE', 'IRIS_HEADLESS_DISPLAY', 'IRIS_RUNTIME_KIND'];

/** Resolves when the host answers; rejects with the reason when none does. */
export async function handOver(home: Home, executable: string): Promise<void> {
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !ownVariables.includes(name)),
  );
  const connection = await startHost(home, { executable, script: builtModule('headless') }, environment);
  connection.close();
}
