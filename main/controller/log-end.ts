/** Tells those who follow a log that its attempt is over. */
import type { Backend } from '../backends/backend.js';
import { describeError, type Logger } from './logger.js';
import type { Publisher } from './publisher.js';

/** Publishes the final sizes of both streams. */
export async function publishLogEnd(
  uid: string,
  publisher: Publisher,
  parts: { readonly backend: Backend; readonly logger: Logger },
): Promise<void> {
  const { backend, logger } = parts;
  try {
    const [out, err] = await Promise.all([
      backend.readLog(uid, 'out', 0, 1),
      backend.readLog(uid, 'err', 0, 1),
    ]);
    publisher.logGrew(uid, { outSize: out.size, errSize: err.size, complete: true });
  } catch (error) {
    logger.warn('The end of a log could not be read', { uid, ...describeError(error) });
  }
}
