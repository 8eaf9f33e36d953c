/** Renders a part of the window over the made-up controller, as main.tsx does the whole. */
import './jsdom-window.js';
import { cleanup, configure, render, type RenderResult } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, beforeEach } from 'vitest';
import { AppProviders } from '../../renderer/app/app.js';
import { createDesktop, type Desktop } from '../../renderer/state/desktop-context.js';
import { FakeHost, type FakeHostOptions } from './fake-host.js';

export interface RenderedWindow {
  readonly host: FakeHost;
  readonly desktop: Desktop;
  readonly view: RenderResult;
}

// A busy machine needs patience; what is awaited normally takes milliseconds.
configure({ asyncUtilTimeout: 15_000, getElementError: (message) => new Error(message ?? 'not found') });

const open: Desktop[] = [];

/** `prepare` runs before anything connects. */
export function renderInWindow(
  ui: ReactNode,
  options: FakeHostOptions & { readonly host?: FakeHost } = {},
): RenderedWindow {
  const host = options.host ?? new FakeHost(options);
  const desktop = createDesktop(host.bridge);
  open.push(desktop);
  const view = render(<AppProviders desktop={desktop}>{ui}</AppProviders>);
  return { host, desktop, view };
}

beforeEach(() => {
  window.location.hash = '';
});

afterEach(() => {
  cleanup();
  for (const desktop of open.splice(0)) desktop.close();
});
