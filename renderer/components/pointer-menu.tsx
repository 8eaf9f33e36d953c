/** A menu that hangs on the place of the pointer, open from the start. */
import { Menu } from '@mantine/core';
import type { ReactNode } from 'react';

export interface PointerMenuProps {
  /** For screen readers. */
  readonly label: string;
  readonly at: { readonly x: number; readonly y: number };
  readonly onClose: () => void;
  /** Its items. */
  readonly children: ReactNode;
}

export function PointerMenu({ label, at, onClose, children }: PointerMenuProps) {
  return (
    <Menu
      opened
      position="bottom-start"
      offset={2}
      returnFocus
      onChange={(opened) => {
        if (!opened) onClose();
      }}
    >
      <Menu.Target>
        {/* Nothing to see: the place of the pointer, named for the menu that hangs on it. */}
        <button
          type="button"
          tabIndex={-1}
          aria-label={label}
          style={{
            position: 'fixed',
            left: at.x,
            top: at.y,
            width: 1,
            height: 1,
            padding: 0,
            border: 0,
            opacity: 0,
          }}
        />
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
