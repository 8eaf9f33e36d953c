import { processBackends } from '../harness/process-backend.js';
import { backendConformance } from './conformance.js';

backendConformance('the workstation', async () => {
  const backends = await processBackends();
  const probe = await backends.open();
  return {
    probe,
    reopen: async () => {
      await probe.backend.close();
      return backends.open();
    },
    dispose: backends.dispose,
  };
});
