/** The Electron runtime of this checkout, for tests in TypeScript. */
export interface Runtime {
  readonly executable: string;
  /** What electron-builder calls electronDist. */
  readonly folder: string;
  readonly version: string;
  readonly kind: 'official' | 'fallback';
  /** Arguments before the app's own. */
  readonly args: string[];
  /** To be added to the environment. */
  readonly env: Record<string, string>;
}
export function resolveRuntime(options?: { root?: boolean; display?: 'real' | 'virtual' }): Runtime;
export function hasDisplay(): boolean;
