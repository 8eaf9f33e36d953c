/** The window's own scheme: serves the bundle's files and nothing else, GET only, each with the policy header. */
import { protocol, type Session } from 'electron';
import { readFile } from 'node:fs/promises';
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

/** The first answer makes Node read its whole fetch, some 50 ms: ahead of the page's first question they are waited for by nobody. */
export function prepareAnswers(): void {
  void new Response('').text();
}

export function serveApp(session: Session, rendererFolder: string, log: (line: string) => void): () => void {
  session.protocol.handle(appScheme, async (request) => {
    if (request.method !== 'GET') {
      return new Response('Only GET is answered here.', {
        status: 405,
        headers: { ...pageHeaders, Allow: 'GET', 'Content-Type': 'text/plain' },
      });
    }
    if (request.url === crashPageUrl) {
      return new Response(crashPage(), {
        headers: { ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8' },
      });
    }
    const asset = resolveAsset(request.url, rendererFolder);
    if (asset !== null) {
      try {
        return new Response(await readFile(asset.file), {
          headers: { ...pageHeaders, 'Content-Type': asset.contentType },
        });
      } catch (error) {
        log(`${request.url} cannot be served: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return new Response('There is no such file in the application.', {
      status: 404,
      headers: { ...pageHeaders, 'Content-Type': 'text/plain' },
    });
  });
  return () => session.protocol.unhandle(appScheme);
}
