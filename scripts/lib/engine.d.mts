export interface OwnEngine {
  readonly folder: string;
  readonly socket: string;
  pid(): number;
  /** What Docker's own command prints. */
  docker(...args: string[]): Promise<string>;
  /** Removes all containers. */
  clear(): Promise<void>;
  /** As a crash would; `start` brings it back. */
  kill(): Promise<void>;
  /** As a loss of power would, with all its containers; `start` brings it back. */
  fall(): Promise<void>;
  /** As a system that restarts it does. */
  quit(): Promise<void>;
  start(): Promise<void>;
  /** Ends its containers and itself, and removes its folder. */
  stop(): Promise<void>;
}

export const engineImage: string;
export function engineObstacle(): string | null;
export function startEngine(folder: string, more?: readonly string[], programs?: string): Promise<OwnEngine>;
export function answers(socket: string): Promise<boolean>;
export function importImage(folder: string, docker: OwnEngine['docker']): Promise<void>;
