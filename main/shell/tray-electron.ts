/** The tray of the desktop at hand. */
import { Menu, Tray, nativeImage, type MenuItemConstructorOptions, type NativeImage } from 'electron';
import { join } from 'node:path';
import type { TrayAction, TrayIcon, TrayItem } from './tray-model.js';
import type { TrayLike } from './tray.js';

/** `folder` holds the icons; on macOS the one-colour template images are taken, which follow the menu bar. */
export function electronTray(folder: string, platform: NodeJS.Platform): (icon: TrayIcon) => TrayLike {
  const image = (icon: TrayIcon): NativeImage => {
    const template = platform === 'darwin';
    const made = nativeImage.createFromPath(join(folder, `tray-${icon}${template ? 'Template' : ''}.png`));
    if (template) made.setTemplateImage(true);
    return made;
  };
  return (icon) => {
    const tray = new Tray(image(icon));
    return {
      setImage: (next) => tray.setImage(image(next)),
      setTooltip: (text) => tray.setToolTip(text),
      setMenu: (items, act) => tray.setContextMenu(Menu.buildFromTemplate(template(items, act))),
      onClick: (listener) => tray.on('click', listener),
      destroy: () => tray.destroy(),
    };
  };
}

function template(
  items: readonly TrayItem[],
  act: (action: TrayAction) => void,
): MenuItemConstructorOptions[] {
  return items.map((item): MenuItemConstructorOptions => {
    switch (item.kind) {
      case 'separator':
        return { type: 'separator' };
      case 'text':
        return { label: item.label, enabled: false };
      case 'submenu':
        return { label: item.label, submenu: template(item.items, act) };
      case 'check':
        return { label: item.label, type: 'checkbox', checked: item.checked, click: () => act(item.action) };
      case 'action':
        return { label: item.label, click: () => act(item.action) };
    }
  });
}
