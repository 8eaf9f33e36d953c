/** What the app runs on, in words for About and the status bar. */
export type RuntimeKind = 'packaged' | 'npm' | 'fallback' | 'unknown';

/** `IRIS_RUNTIME_KIND` is set by the script that starts the app from a checkout. */
export function runtimeKind(
  packaged: boolean,
  env: Readonly<Record<string, string | undefined>>,
): RuntimeKind {
  if (packaged) return 'packaged';
  switch (env['IRIS_RUNTIME_KIND']) {
    case 'official':
      return 'npm';
    case 'fallback':
      return 'fallback';
    default:
      return 'unknown';
  }
}

const words: Readonly<Record<RuntimeKind, string>> = {
  packaged: 'packaged with the app',
  npm: "the electron package's own",
  fallback: 'fallback runtime, older than the one the app is made for',
  unknown: 'of unknown origin',
};

export function runtimeWords(runtime: string, kind: RuntimeKind): string {
  return `${runtime} (${words[kind]})`;
}
