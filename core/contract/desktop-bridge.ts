/**
 * What the desktop's main process gives to the window: one frozen object, plain data in and out. Implemented by
 * main/preload, used by renderer/state; neither sees more of the other.
 */
import { z } from 'zod';
import type { ClientFrame } from './protocol.js';

/** One connection to the controller. */
export interface BridgeConnection {
  readonly send: (frame: ClientFrame) => void;
  readonly close: () => void;
}

export const appInfoSchema = z.strictObject({
  appVersion: z.string(),
  /** Runtime in words, such as `Electron 45.5.0`. */
  runtime: z.string(),
  /** Where the runtime came from: `packaged`, `npm`, `fallback` and so on; shown in About. */
  runtimeKind: z.string(),
  /** Node's name of the platform: linux, darwin, win32. */
  platform: z.string(),
  homeFolder: z.string(),
  shortcutModifier: z.enum(['Ctrl', 'Cmd']),
  /** False: this desktop shows no notifications, ended jobs are in the app's own list only. */
  notificationsSupported: z.boolean().optional(),
});
export type AppInfo = z.infer<typeof appInfoSchema>;

export const desktopSettingsSchema = z.strictObject({
  /** What closing the window does where there is a tray: ask (once), keep the app in the tray, quit. */
  closeToTray: z.enum(['ask', 'tray', 'quit']),
  notificationsPaused: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
});
export type DesktopSettings = z.infer<typeof desktopSettingsSchema>;
export const desktopSettingsChangeSchema = desktopSettingsSchema.partial();
export type DesktopSettingsChange = Partial<DesktopSettings>;

/** Things main asks of the window: from the tray, the menu, a notification's click, a second start. */
export const desktopCommandSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('open-job'), jobId: z.string() }),
  /** The jobs that ended last. */
  z.strictObject({ kind: z.literal('ended-jobs') }),
  z.strictObject({ kind: z.literal('new-job') }),
  z.strictObject({ kind: z.literal('palette') }),
  /** The window is being closed and the user has not said yet what that means; answered by `answerClosing`. */
  z.strictObject({
    kind: z.literal('closing-asks'),
    trayAvailable: z.boolean(),
    runningJobs: z.number().int(),
  }),
  /** Settings changed elsewhere (the tray's menu). */
  z.strictObject({ kind: z.literal('settings-changed'), settings: desktopSettingsSchema }),
]);
export type DesktopCommand = z.infer<typeof desktopCommandSchema>;

export const closingAnswerSchema = z.strictObject({
  choice: z.enum(['tray', 'quit', 'cancel']),
  /** Keep the choice as the setting. */
  remember: z.boolean(),
});
export type ClosingAnswer = z.infer<typeof closingAnswerSchema>;

export const logStreamChoices = ['out', 'err', 'merged'] as const;
export type LogStreamChoice = (typeof logStreamChoices)[number];

export interface DesktopBridge {
  /**
   * Opens a connection. Frames arrive as JSON, which the client parses and checks: Electron copies an object into the page value by
   * value, which for a page of jobs takes longer than a frame of the screen. `onClosed` is called once when it ends for whatever
   * reason other than `close()`.
   */
  readonly connect: (onFrame: (text: string) => void, onClosed: () => void) => BridgeConnection;
  /** The folder picked, or null when the user cancelled. */
  readonly pickFolder: (current?: string) => Promise<string | null>;
  /** Main asks for the place and streams the attempt's log there itself; null when cancelled. Rejects with the reason. */
  saveText(
    suggestedName: string,
    attemptUid: string,
    stream: LogStreamChoice,
  ): Promise<{ path: string } | null>;
  /** Path of a file or folder dropped on the window (the DOM's File object); null when it has none. */
  readonly readDroppedPath: (file: object) => string | null;
  readonly info: () => Promise<AppInfo>;
  /** Returns the function that ends listening. Commands sent before the first listener are kept for it. */
  readonly onCommand: (listener: (command: DesktopCommand) => void) => () => void;
  readonly answerClosing: (answer: ClosingAnswer) => Promise<void>;
  readonly getSettings: () => Promise<DesktopSettings>;
  /** Returns the settings after the change. */
  readonly setSettings: (change: DesktopSettingsChange) => Promise<DesktopSettings>;
}
