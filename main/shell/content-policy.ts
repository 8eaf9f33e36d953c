/** The headers every page of ours is served with. */

/**
 * Nothing by default; scripts strictly from our scheme. Styles may be inline because the component library and the terminal write
 * style elements; no style can run code, and fonts and images come from ourselves only.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "form-action 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * No opener policy among them: windows are denied, so no page of ours has an opener, and it would have Chromium throw away the window's first
 * renderer process and start another one.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};
