/**
 * Whether there is a folder one may enter. Another process looks: on a file system that does not answer it hangs in our stead, and one of
 * Node's few threads for files never does.
 */
import { execFile } from 'node:child_process';

const patienceMs = 10_000;

/** Null: that could not be found out. */
export function folderHere(folder: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    const options = { cwd: '/', timeout: patienceMs, killSignal: 'SIGKILL' } as const;
    execFile('/bin/sh', ['-c', 'test -d "$1/."', 'sh', folder], options, (error) => {
      resolve(error === null ? true : error.code === 1 ? false : null);
    });
  });
}
