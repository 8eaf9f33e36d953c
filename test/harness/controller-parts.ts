/** What a controller of a test needs beside its store, its backend and its wall clock. */
import type { ControllerParts } from '../../main/controller/controller.js';

/** Made once for all controllers that follow one another on a store: what is random counts on, and so comes once. */
export function plainParts(): Omit<ControllerParts, 'store' | 'backend' | 'nowMs'> {
  let minted = 0;
  const silent = () => undefined;
  return {
    logger: { info: silent, warn: silent, error: silent },
    monotonicMs: () => performance.now(),
    random: (bytes) => (minted += 1).toString(16).padStart(bytes * 2, '0'),
    homeRoot: '/data',
    advertiseHost: 'localhost',
  };
}
