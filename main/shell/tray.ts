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

/** Only what differs is set: each change of the menu closes it on some desktops while the user reads it. */
export function createTray(make: (icon: TrayIcon) => TrayLike, act: (action: TrayAction) => void): ShellTray {
  let tray: TrayLike | null = null;
  let shown: TrayView | null = null;
  return {
    show(view) {
      if (tray === null) {
        tray = make(view.icon);
        tray.onClick(() => act({ kind: 'show' }));
      } else if (view.icon !== shown?.icon) tray.setImage(view.icon);
      if (view.tooltip !== shown?.tooltip) tray.setTooltip(view.tooltip);
      if (JSON.stringify(view.menu) !== JSON.stringify(shown?.menu)) tray.setMenu(view.menu, act);
      shown = view;
    },
    destroy() {
      tray?.destroy();
      tray = null;
      shown = null;
    },
  };
}
