/** The bridge's main side as one: ports for frames, requests, and the page's word that it listens. */
import type { WebContents } from 'electron';
import { serveFramePorts, type FramePorts } from '../ipc/frame-ports.js';
import { handleRequests, type RequestHandlers } from '../ipc/handlers.js';
import { onPageListening } from '../ipc/listening.js';
import { isAppUrl } from './asset-path.js';
import type { ControllerLink } from './controller-link.js';
import type { MainWindow } from './main-window.js';

export interface BridgeOptions {
  readonly window: MainWindow;
  readonly link: ControllerLink;
  readonly requests: RequestHandlers;
  readonly log: (line: string) => void;
}

export function startBridge(options: BridgeOptions): { readonly ports: FramePorts; stop(): void } {
  const { window, link, log } = options;
  const rule = {
    isKnownWindow: (contents: WebContents) => window.isOurs(contents),
    isOurPage: isAppUrl,
  };
  const ports = serveFramePorts({
    rule,
    openClient: (receive, closed) => link.openClient(receive, closed),
    log,
  });
  const leaveRequests = handleRequests(options.requests, rule, log);
  const leaveListening = onPageListening(rule, log, () => window.pageListens());
  return {
    ports,
    stop() {
      leaveListening();
      leaveRequests();
      ports.close();
    },
  };
}
