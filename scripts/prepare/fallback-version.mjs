/** Electron in the package of fallback-runtime.mjs. */
export const fallbackVersion = '33.2.1';
