/** The desktop's own settings: one JSON file beside the browser profile, written whole or not at all. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { desktopSettingsSchema, type DesktopSettings } from '../../core/contract/desktop-bridge.js';
import type { WindowPlace } from './window-place.js';

const placeSchema = z.object({
  x: z.number().int().optional(),
  y: z.number().int().optional(),
  width: z.number().int().min(1),
  height: z.number().int().min(1),
  maximized: z.boolean(),
});

/** Fields a newer version added are kept out, fields an older one lacks get their default: a file never fails for its age. */
const fileSchema = z.object({
  settings: z.object(desktopSettingsSchema.partial().shape).default({}),
  window: placeSchema.nullable().default(null),
});

export const startSettings: DesktopSettings = {
  closeToTray: 'ask',
  notificationsPaused: false,
  theme: 'system',
};

/** A key that is absent or undefined stays as it is. */
export type SettingsChange = { readonly [K in keyof DesktopSettings]?: DesktopSettings[K] | undefined };

export interface SettingsStore {
  get(): DesktopSettings;
  /** Returns the settings after the change; throws when they cannot be written, and keeps the old ones then. */
  change(change: SettingsChange): DesktopSettings;
  window(): WindowPlace | null;
  /** Never throws: a place that cannot be kept is only logged. */
  rememberWindow(place: WindowPlace): void;
  onChange(listener: (settings: DesktopSettings) => void): () => void;
}

export function openSettings(
  file: string,
  log: (line: string) => void,
  nowMs: () => number = Date.now,
): SettingsStore {
  const read = readFile(file, log, nowMs);
  let settings: DesktopSettings = { ...startSettings, ...defined(read.settings) };
  let window: WindowPlace | null = read.window === null ? null : placeOf(read.window);
  const listeners = new Set<(settings: DesktopSettings) => void>();

  return {
    get: () => settings,
    change(change) {
      const next: DesktopSettings = { ...settings, ...defined(change) };
      writeWhole(file, { settings: next, window });
      settings = next;
      for (const listener of listeners) listener(settings);
      return settings;
    },
    window: () => window,
    rememberWindow(place) {
      window = place;
      try {
        writeWhole(file, { settings, window });
      } catch (error) {
        log(`The window's place cannot be kept in ${file}: ${String(error)}`);
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

function placeOf(value: z.output<typeof placeSchema>): WindowPlace {
  const { width, height, maximized, x, y } = value;
  return { width, height, maximized, ...(x === undefined || y === undefined ? {} : { x, y }) };
}

/** A file that cannot be understood is set aside, never overwritten: somebody may want to mend it. */
function readFile(
  file: string,
  log: (line: string) => void,
  nowMs: () => number,
): z.output<typeof fileSchema> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!isMissing(error)) log(`The settings ${file} cannot be read: ${String(error)}`);
    return fileSchema.parse({});
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const aside = `${file}.unreadable-${nowMs()}`;
  try {
    renameSync(file, aside);
    log(
      `The settings ${file} are not valid and were moved to ${aside}: ${parsed.error.issues[0]?.message ?? ''}`,
    );
  } catch (error) {
    log(`The settings ${file} are not valid and cannot be moved aside: ${String(error)}`);
  }
  return fileSchema.parse({});
}

function writeWhole(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}.new`;
  try {
    const handle = openSync(fresh, 'w', 0o600);
    try {
      writeSync(handle, `${JSON.stringify(content, null, 2)}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

/** Without the keys whose value is undefined, so that spreading them never removes a value. */
function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused by the schema
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
