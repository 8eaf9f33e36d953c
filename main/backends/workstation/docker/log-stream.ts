/** One reading of a container's log as the Engine sends it. */
import { Readable } from 'node:stream';
import { FrameError, LogFrameReader } from '../../../../core/formats/docker/log-frames.js';
import { readStamped, type StampedMessage } from '../../../../core/formats/docker/log-resume.js';
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
  // As a stream also of one that has ended: it may be longer than memory, and text that looks like JSON stays text.
  const stream = await engine.ask((docker) =>
    docker.getContainer(container).logs({
      follow: true,
      stdout: true,
      stderr: true,
      timestamps: !tty,
      ...what,
    }),
  );
  let over = false;
  // Not by an abort signal: an answer that is whole by then and not read yet would fail its connection, which nobody listens to.
  const hangUp = () => {
    over = true;
    if (stream instanceof Readable) stream.destroy();
  };
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      hangUp();
      resolve();
    };
    opened(end);
    stream.on('data', (piece: Buffer) => {
      try {
        if (!over) take(piece);
      } catch (error) {
        hangUp();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    stream.on('end', resolve);
    stream.on('close', resolve);
    stream.on('error', ({ message }: Error) => reject(brokenOff(message)));
  });
}

/** Takes the messages of a log with frames, one by one. */
export function takeStamped(each: (message: StampedMessage) => void): Take {
  const frames = new LogFrameReader();
  return (piece) => {
    for (const frame of frames.read(piece)) {
      const message = readStamped(frame);
      if (message === null) throw new Error('a message of the log has no time stamp');
      each(message);
    }
  };
}

/** `why` the Engine could not read its log on; null: it could. Rejects with every other fault. */
export async function brokenBy<T>(
  reading: () => Promise<T>,
): Promise<{ readonly done: T | null; readonly why: string | null }> {
  try {
    return { done: await reading(), why: null };
  } catch (error) {
    if (error instanceof FrameError) return { done: null, why: error.message };
    throw error;
  }
}
