/** The application's menu: standard roles, and the few actions of ours. */
import { Menu, type MenuItemConstructorOptions } from 'electron';

export interface MenuActions {
  readonly newJob: () => void;
  readonly palette: () => void;
  readonly about: () => void;
  readonly showLogFolder: () => void;
  readonly retryController: () => void;
  readonly quit: () => void;
}

export function setAppMenu(actions: MenuActions, platform: NodeJS.Platform, devTools: boolean): void {
  const mac = platform === 'darwin';
  const quit: MenuItemConstructorOptions = {
    label: mac ? 'Quit Iris Desktop' : 'Quit',
    accelerator: 'CmdOrCtrl+Q',
    click: actions.quit,
  };
  const about: MenuItemConstructorOptions = { label: 'About Iris Desktop', click: actions.about };
  const template: MenuItemConstructorOptions[] = [
    ...(mac
      ? [
          {
            label: 'Iris Desktop',
            submenu: [
              about,
              { type: 'separator' },
              { role: 'services' },
              { type: 'separator' },
              { role: 'hide' },
              { role: 'hideOthers' },
              { role: 'unhide' },
              { type: 'separator' },
              quit,
            ],
          } satisfies MenuItemConstructorOptions,
        ]
      : []),
    {
      label: 'File',
      submenu: [
        { label: 'New job', accelerator: 'CmdOrCtrl+N', click: actions.newJob },
        // The page has the key itself, so that it works the same in a browser.
        {
          label: 'Command palette',
          accelerator: 'CmdOrCtrl+K',
          registerAccelerator: false,
          click: actions.palette,
        },
        { type: 'separator' },
        { role: 'close', label: 'Close window' },
        ...(mac ? [] : [quit]),
      ],
    },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        ...(devTools
          ? [{ role: 'reload' } as const, { role: 'toggleDevTools' } as const, { type: 'separator' } as const]
          : []),
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    {
      label: 'Help',
      submenu: [
        { label: 'Show log folder', click: actions.showLogFolder },
        { label: 'Try again to start the controller', click: actions.retryController },
        ...(mac ? [] : [{ type: 'separator' } as const, about]),
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
