import type { MantineColorScheme, MantineColorSchemeManager } from '@mantine/core';

let current: MantineColorScheme | null = null;

/** The main process keeps the setting; the page keeps nothing of its own. */
export const memoryColorScheme: MantineColorSchemeManager = {
  get: (fallback) => current ?? fallback,
  set(value) {
    current = value;
  },
  subscribe() {
    // Changes arrive as settings of the desktop.
  },
  unsubscribe() {
    // Nothing was subscribed.
  },
  clear() {
    current = null;
  },
};
