/** The window's own scheme: serves the bundle's files and nothing else, GET only, each with the policy header. */
import { protocol, type ProtocolRequest, type ProtocolResponse, type Session } from 'electron';
import { readFileSync } from 'node:fs';
import { appOrigin, appScheme, resolveAsset } from './asset-path.js';
import { pageHeaders } from './content-policy.js';
import { crashPage } from './crash-page.js';

export const startPage = `${appOrigin}/index.html`;
/** Shown instead of the bundle after repeated crashes of it. */
export const crashPageUrl = `${appOrigin}/-/crashed`;

/** Must be called before the app is ready. Standard and secure: relative URLs, own origin and storage work as on https. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    {
      scheme: appScheme,
      privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true },
    },
  ]);
}

/**
 * Electron's older way of answering, with buffers. It is marked as superseded by `protocol.handle`, which answers with a `Response`: for
 * that Node first reads its whole fetch (70 ms of the window's start), and each crosses as a stream.
 */
interface BufferProtocol {
  registerBufferProtocol(
    scheme: string,
    answerTo: (request: ProtocolRequest, answer: (response: ProtocolResponse) => void) => void,
  ): boolean;
  unregisterProtocol(scheme: string): boolean;
}

export function serveApp(session: Session, rendererFolder: string, log: (line: string) => void): () => void {
  const buffers: BufferProtocol = session.protocol;
  buffers.registerBufferProtocol(appScheme, (request, answer) => {
    answer(answerTo(request, rendererFolder, log));
  });
  return () => buffers.unregisterProtocol(appScheme);
}

/**
 * Read within the answer: the files are our own and few, and at a start, when all processors are busy, each of the four turns through the
 * pool of threads that reading beside it takes comes late, while the page waits.
 */
function answerTo(
  request: ProtocolRequest,
  rendererFolder: string,
  log: (line: string) => void,
): ProtocolResponse {
  if (request.method !== 'GET') {
    return page(405, 'text/plain', Buffer.from('Only GET is answered here.'), { Allow: 'GET' });
  }
  if (request.url === crashPageUrl) return page(200, 'text/html; charset=utf-8', Buffer.from(crashPage()));
  const asset = resolveAsset(request.url, rendererFolder);
  if (asset !== null) {
    try {
      return page(200, asset.contentType, readFileSync(asset.file));
    } catch (error) {
      log(`${request.url} cannot be served: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return page(404, 'text/plain', Buffer.from('There is no such file in the application.'));
}

function page(
  statusCode: number,
  contentType: string,
  data: Buffer,
  headers: Readonly<Record<string, string>> = {},
): ProtocolResponse {
  return { statusCode, headers: { ...pageHeaders, ...headers, 'Content-Type': contentType }, data };
}
