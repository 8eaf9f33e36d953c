/**
 * Under a test driver nothing opens before the driver has attached: it would wait for ever for a window that opens while it does. It is
 * asked for by the environment, in a checkout only, and once: what this process starts again has no driver.
 */
import { app } from 'electron';

export function driverAttached(): Promise<void> {
  const asked = !app.isPackaged && process.env['IRIS_WAIT_FOR_DRIVER'] === '1';
  delete process.env['IRIS_WAIT_FOR_DRIVER'];
  if (!asked) return Promise.resolve();
  return new Promise((resolve) => {
    Object.defineProperty(globalThis, 'irisDriverAttached', { value: resolve });
  });
}
