/** The desktop's bridge as the page finds it. */
import type { DesktopBridge } from '../../core/contract/desktop-bridge.js';

export type {
  AppInfo,
  DesktopBridge,
  DesktopCommand,
  DesktopSettings,
} from '../../core/contract/desktop-bridge.js';

declare global {
  interface Window {
    readonly irisDesktop?: DesktopBridge;
  }
}

/** The bridge, or null when the page was opened outside the application. */
export function findBridge(): DesktopBridge | null {
  return window.irisDesktop ?? null;
}
