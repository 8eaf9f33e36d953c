/** Draws the tray from its model. What makes icons and menus is given, so that tests need no desktop. */
import type { TrayAction, TrayItem, TrayIcon, TrayView } from './tray-model.js';

export interface TrayLike {
  setImage(icon: TrayIcon): void;
  setTooltip(text: string): void;
  setMenu(items: readonly TrayItem[], act: (action: TrayAction) => void): void;
  onClick(listener: () => void): void;
  destroy(): void;
}

export interface ShellTray {
  show(view: TrayView): void;
  destroy(): void;
}

/**
 * Only what differs is set: each change of the menu closes it on some desktops while the user reads it. `failed`: an action threw, which
 * out of a menu's click would end the whole desktop.
 */
export function createTray(
  make: (icon: TrayIcon) => TrayLike,
  act: (action: TrayAction) => void,
  failed: (error: unknown) => void,
): ShellTray {
  let tray: TrayLike | null = null;
  let shown: TrayView | null = null;

  function actOrSay(action: TrayAction): void {
    try {
      act(action);
    } catch (error) {
      // A check was set by the click itself, whatever became of it.
      if (shown !== null) tray?.setMenu(shown.menu, actOrSay);
      failed(error);
    }
  }

  return {
    show(view) {
      if (tray === null) {
        tray = make(view.icon);
        tray.onClick(() => actOrSay({ kind: 'show' }));
      } else if (view.icon !== shown?.icon) tray.setImage(view.icon);
      if (view.tooltip !== shown?.tooltip) tray.setTooltip(view.tooltip);
      if (JSON.stringify(view.menu) !== JSON.stringify(shown?.menu)) tray.setMenu(view.menu, actOrSay);
      shown = view;
    },
    destroy() {
      tray?.destroy();
      tray = null;
      shown = null;
    },
  };
}
