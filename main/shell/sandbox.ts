/** Whether Chromium's sandbox is used. It is, but for root working from a checkout, for whom Chromium refuses it. */
export type SandboxChoice =
  | { readonly kind: 'on' }
  | { readonly kind: 'off'; readonly warning: string }
  | { readonly kind: 'refused'; readonly message: string };

/** `uid` undefined: a platform without user ids. */
export function chooseSandbox(noSandbox: boolean, packaged: boolean, uid: number | undefined): SandboxChoice {
  if (!noSandbox) return { kind: 'on' };
  if (packaged || uid !== 0) {
    return {
      kind: 'refused',
      message:
        '--no-sandbox is not accepted: the window runs in Chromium’s sandbox, always, except for root working from a checkout. Start Iris Desktop without it.',
    };
  }
  return {
    kind: 'off',
    warning:
      'Warning: started by root with --no-sandbox, the window runs without Chromium’s sandbox. Use an ordinary user for daily work.',
  };
}
