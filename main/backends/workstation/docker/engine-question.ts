/** A question to an Engine that is called off, with its connection, when the answer takes too long. */
import type Docker from 'dockerode';

interface Dialled {
  abortSignal?: AbortSignal | undefined;
}
interface Modem {
  dial(options: Dialled, done: (error: unknown, answer: unknown) => void): void;
}

/**
 * Rejects with `late` after that time. The requests end then as well: an Engine that hangs would otherwise keep a connection of each for
 * as long as it does. A stream that came in time is left alone.
 */
export async function inTime<T>(
  ms: number,
  late: () => Error,
  question: (within: (docker: Docker) => Docker) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(late());
      over.abort();
    }, ms);
  });
  try {
    return await Promise.race([question((docker) => calledOffBy(docker, signal)), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** The same client; its containers and images are made with the modem it has. */
function calledOffBy(docker: Docker, signal: AbortSignal): Docker {
  const modem = docker.modem as Modem;
  const dial: Modem['dial'] = (options, done) => {
    const { abortSignal: own } = options;
    modem.dial(
      { ...options, abortSignal: own === undefined ? signal : AbortSignal.any([own, signal]) },
      done,
    );
  };
  const dialling: unknown = Object.create(modem, { dial: { value: dial } });
  const bound: unknown = Object.create(docker, { modem: { value: dialling } });
  return bound as Docker;
}
