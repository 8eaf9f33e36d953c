/** Names of this build and of what it runs on. */
import packageJson from '../package.json' with { type: 'json' };

export const appVersion: string = packageJson.version;

/** `Electron 45.5.0` or `Node 24.1.0`. */
export function runtimeName(): string {
  const electron: string | undefined = (process.versions as Partial<Record<string, string>>)['electron'];
  return electron === undefined ? `Node ${process.versions.node}` : `Electron ${electron}`;
}
