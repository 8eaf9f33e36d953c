import { afterAll, beforeAll, describe } from 'vitest';
import { dockerBackends, noEngine, ownEngine, withEngine, type OwnEngine } from '../harness/engine.js';
import { backendConformance } from './conformance.js';

describe.skipIf(noEngine)(withEngine('on a real Engine'), () => {
  let engine: OwnEngine;
  beforeAll(async () => {
    engine = await ownEngine();
  });
  afterAll(() => engine.stop());

  backendConformance('the workstation, in containers,', async () => {
    const backends = await dockerBackends(engine);
    const probe = await backends.open();
    return {
      probe,
      container: true,
      many: 12,
      shared: backends.work,
      launchOf: (request) => backends.launch(request),
      reopen: async () => {
        await probe.backend.close();
        return backends.open();
      },
      dispose: backends.dispose,
    };
  });
});
