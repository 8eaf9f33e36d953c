/** One reading of a container's log as the Engine sends it. */
import { brokenOff, type Engine } from './engine.js';

export type Take = (piece: Buffer) => void;
/** From then on, or so many of its last messages; neither: all of it. */
export interface LogRequest {
  readonly since?: number;
  readonly tail?: number;
}

export interface LogSource {
  readonly engine: Engine;
  readonly container: string;
  readonly tty: boolean;
}

/** Gives what the Engine sends to `take`, until it ends; `opened` is told how to end it before. Rejects with what `take` throws, and with EngineUnreachable when it breaks off. */
export async function receiveLog(
  { engine, container, tty }: LogSource,
  what: LogRequest,
  take: Take,
  opened: (end: () => void) => void,
): Promise<void> {
  const abort = new AbortController();
  // As a stream also of one that has ended: it may be longer than memory, and text that looks like JSON stays text.
  const stream = await engine.ask((docker) =>
    docker.getContainer(container).logs({
      follow: true,
      stdout: true,
      stderr: true,
      timestamps: !tty,
      ...what,
      abortSignal: abort.signal,
    }),
  );
  let over = false;
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      over = true;
      abort.abort();
      resolve();
    };
    opened(end);
    stream.on('data', (piece: Buffer) => {
      try {
        if (!over) take(piece);
      } catch (error) {
        over = true;
        abort.abort();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    stream.on('end', resolve);
    stream.on('close', resolve);
    stream.on('error', ({ message }: Error) => reject(brokenOff(message)));
  });
}
