// @vitest-environment jsdom
import { Menu } from '@mantine/core';
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { renderInWindow } from '../../test/harness/render-window.js';
import { useConfirm } from './confirm.js';
import { KeyHint } from './key-hint.js';
import { useShortcuts } from './shortcuts.js';

const ran: string[] = [];

/** A page with keys of its own and a menu over it. */
function Page() {
  const confirm = useConfirm();
  useShortcuts('Page', [
    { keys: 'Escape', run: () => void ran.push('page up') },
    { keys: 'x', run: () => void ran.push('page x') },
    { keys: 'n', run: () => void ran.push('page n') },
  ]);
  return (
    <>
      <Menu>
        <Menu.Target>
          <button type="button">Actions</button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item>Open</Menu.Item>
          <Menu.Item rightSection={<KeyHint keys="x" />} onClick={() => void ran.push('item x')}>
            Stop
          </Menu.Item>
          <Menu.Item
            onClick={() => {
              void confirm({ title: 'Sure?', body: '', action: 'Yes' });
            }}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });

async function openMenu(): Promise<void> {
  const button = screen.getByRole('button', { name: 'Actions' });
  act(() => {
    button.focus();
  });
  fireEvent.click(button);
  const item = await screen.findByRole('menuitem', { name: 'Open' });
  act(() => {
    item.focus();
  });
}

beforeEach(() => {
  ran.length = 0;
});

describe('keys of what is open over a page', () => {
  it('leave the page alone, in a menu', async () => {
    renderInWindow(<Page />);
    await openMenu();
    press('n');
    press('Escape');
    await waitFor(() => expect(screen.queryByRole('menu')).toBe(null));
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Actions'));
    expect(ran).toEqual([]);
    press('n');
    press('Escape');
    expect(ran).toEqual(['page n', 'page up']);
  });

  it('choose the item they stand beside, and close the menu', async () => {
    renderInWindow(<Page />);
    await openMenu();
    press('x');
    await waitFor(() => expect(screen.queryByRole('menu')).toBe(null));
    expect(ran).toEqual(['item x']);
  });

  it('give the focus back to the button of the menu that a dialog was opened from', async () => {
    renderInWindow(<Page />);
    await openMenu();
    fireEvent.click(await screen.findByRole('menuitem', { name: 'Remove', hidden: true }));
    await screen.findByRole('button', { name: 'Cancel' });
    const focused = () => document.activeElement?.textContent;
    await waitFor(() => expect(focused()).toBe('Yes'));
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(focused()).toBe('Actions'));
  });
});
