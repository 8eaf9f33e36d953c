/** What pages may not do, set once for the session and for every web contents that is ever made. */
import type { App, Session, WebContents } from 'electron';
import { isAppUrl } from './asset-path.js';

type Log = (line: string) => void;

/** Everything a page can ask the system for is denied; only copying text is allowed, to our own pages. */
const allowedPermission = 'clipboard-sanitized-write';

export function guardSession(session: Session, log: Log, allowDevTools: boolean): void {
  session.setPermissionRequestHandler((_contents, permission, decide, details) => {
    const allowed =
      permission === allowedPermission && details.isMainFrame && isAppUrl(details.requestingUrl);
    if (!allowed) log(`Denied the permission ${permission} to ${details.requestingUrl}.`);
    decide(allowed);
  });
  session.setPermissionCheckHandler(
    (_contents, permission, origin, details) =>
      permission === allowedPermission && details.isMainFrame && isAppUrl(origin),
  );
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, decide) => decide({}));
  session.on('will-download', (event, item) => {
    log(`Prevented a download of ${item.getURL()}.`);
    event.preventDefault();
  });
  // Dictionaries would be fetched from a server of somebody else's.
  session.setSpellCheckerEnabled(false);
  // No page or script of another origin, whatever asks for it.
  session.webRequest.onBeforeRequest((details, decide) => {
    const allowed =
      isAppUrl(details.url) ||
      details.url.startsWith('data:') ||
      (allowDevTools && details.url.startsWith('devtools:'));
    if (!allowed) log(`Blocked a request to ${details.url}.`);
    decide({ cancel: !allowed });
  });
}

export interface WindowGuards {
  readonly log: Log;
  /** A link to the outside that a page wants to open. */
  readonly openExternal: (url: string) => void;
}

export function guardAllContents(app: App, guards: WindowGuards): () => void {
  const onCreated = (_event: unknown, contents: WebContents) => guardContents(contents, guards);
  app.on('web-contents-created', onCreated);
  return () => app.off('web-contents-created', onCreated);
}

function guardContents(contents: WebContents, { log, openExternal }: WindowGuards): void {
  contents.on('will-frame-navigate', (details) => {
    if (details.isMainFrame && isAppUrl(details.url)) return;
    log(`Prevented a navigation to ${details.url}.`);
    details.preventDefault();
  });
  contents.on('will-redirect', (details) => {
    if (details.isMainFrame && isAppUrl(details.url)) return;
    log(`Prevented a redirect to ${details.url}.`);
    details.preventDefault();
  });
  contents.on('will-attach-webview', (event) => {
    log('Prevented a webview.');
    event.preventDefault();
  });
  contents.setWindowOpenHandler(({ url }) => {
    log(`Denied a new window for ${url}.`);
    openExternal(url);
    return { action: 'deny' };
  });
}
