import { launcherKinds, processBackends } from '../harness/process-backend.js';
import { backendConformance } from './conformance.js';

for (const kind of launcherKinds) {
  backendConformance(`the workstation, started by ${kind},`, async () => {
    const backends = await processBackends(kind);
    const probe = await backends.open({ checkpointSampleMs: 200 });
    return {
      probe,
      reopen: async () => {
        await probe.backend.close();
        return backends.open();
      },
      dispose: backends.dispose,
    };
  });
}
