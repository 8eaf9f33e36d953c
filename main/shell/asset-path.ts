/** From a URL of the app's own scheme to a file of the window's bundle, and never to any other file. */
import { isAbsolute, relative, resolve, sep } from 'node:path';

export const appScheme = 'iris';
export const appHost = 'app';
/** The origin of every page of ours, as Chromium writes it for a standard scheme. */
export const appOrigin = `${appScheme}://${appHost}`;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

export interface Asset {
  readonly file: string;
  readonly contentType: string;
}

/**
 * Null for anything that is not a file of the bundle: another host, an escape from the root in whatever encoding, a hidden
 * file, a NUL, a type that is not on the list. Paths without an extension are routes of the page and give its document.
 */
export function resolveAsset(url: string, root: string): Asset | null {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return null;
  }
  if (parsed.protocol !== `${appScheme}:` || parsed.host !== appHost) return null;
  let path: string;
  try {
    path = decodeURIComponent(parsed.pathname);
  } catch {
    return null;
  }
  if (path.includes('\0') || path.includes('\\') || path.includes('%')) return null;
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part.startsWith('.'))) return null;
  const last = parts.at(-1);
  const extension = last === undefined ? '' : extensionOf(last);
  const file = resolve(root, extension === '' ? 'index.html' : parts.join(sep));
  const contentType = contentTypes[extension === '' ? '.html' : extension];
  if (contentType === undefined) return null;
  const inside = relative(root, file);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return null;
  return { file, contentType };
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot).toLowerCase();
}

/** True for a URL of our own pages. Compared by parts: a prefix test would accept `iris://app.example/`. */
export function isAppUrl(url: string): boolean {
  try {
    const parsed = new URL(url);
    return (
      parsed.protocol === `${appScheme}:` &&
      parsed.host === appHost &&
      parsed.username === '' &&
      parsed.port === ''
    );
  } catch {
    return false;
  }
}
