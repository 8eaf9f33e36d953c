/** Names of the messages between preload and main. Each carries one request of the bridge; none is generic. */
export const channels = {
  /** One way, with a message port: a connection to the controller. */
  connect: 'iris:connect',
  pickFolder: 'iris:pick-folder',
  saveText: 'iris:save-text',
  info: 'iris:info',
  answerClosing: 'iris:answer-closing',
  getSettings: 'iris:get-settings',
  setSettings: 'iris:set-settings',
  /** One way, main to page. */
  command: 'iris:command',
  /** One way: the page listens for commands from now on. */
  listening: 'iris:listening',
} as const;

/** What a port carries last, before main closes it: no JSON, so no frame can be mistaken for it. */
export const portEnd = 'iris:end';

/** An answer as plain data, since Electron keeps only an error's message, with a prefix of its own. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string };
