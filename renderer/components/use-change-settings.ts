/** Changes the desktop's settings from wherever they can be changed; what could not be kept is said. */
import { useCallback } from 'react';
import type { DesktopSettings } from '../../core/contract/desktop-bridge.js';
import { useDesktop } from '../state/desktop-context.js';
import { asRefusal } from '../state/hooks.js';
import { settings as words } from '../strings/settings.js';
import { useToast } from './toasts.js';

export function useChangeSettings(): (change: Partial<DesktopSettings>) => void {
  const desktop = useDesktop();
  const toast = useToast();
  return useCallback(
    (change) => {
      desktop.changeSettings(change).catch((error: unknown) => {
        toast({ tone: 'error', text: words.notSaved(asRefusal(error).message) });
      });
    },
    [desktop, toast],
  );
}
