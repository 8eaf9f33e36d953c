// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { findViolations } from '../../../test/harness/axe.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { SettingsPage } from './settings-page.js';

describe('Settings page', () => {
  it('shows what holds and keeps each change at once', async () => {
    const { host, view } = renderInWindow(<SettingsPage />);
    const dark = await screen.findByRole<HTMLInputElement>('radio', { name: 'Dark' });
    fireEvent.click(dark);
    await waitFor(() => expect(dark.checked).toBe(true));
    fireEvent.click(screen.getByRole('switch', { name: 'Tell me on the desktop when a job of mine ends' }));
    fireEvent.click(screen.getByRole('radio', { name: 'Keep Iris Desktop in the tray' }));
    await waitFor(() =>
      expect(host.settings).toEqual({ theme: 'dark', notificationsPaused: true, closeToTray: 'tray' }),
    );
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('says which version this is, on what it runs and where its data lies', async () => {
    const { view } = renderInWindow(<SettingsPage />);
    await screen.findByText('/home/anna/.local/share/iris-desktop');
    expect(screen.getByText('in this app, process 4100')).toBeTruthy();
    expect(screen.getByText('journal_mode wal, synchronous 2')).toBeTruthy();
    expect(view.container.textContent).not.toMatch(/undefined|NaN/);
  });

  it('tells a change that could not be kept', async () => {
    const host = new FakeHost();
    const bridge = {
      ...host.bridge,
      setSettings: () => Promise.reject(new Error('The disk is full.')),
    };
    Object.defineProperty(host, 'bridge', { value: bridge });
    renderInWindow(<SettingsPage />, { host });
    fireEvent.click(await screen.findByRole('radio', { name: 'Light' }));
    expect((await screen.findByRole('alert')).textContent).toBe('Not saved. The disk is full.');
  });
});
