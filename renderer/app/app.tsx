/** The window: providers around the frame, in the order they need each other. */
import { MantineProvider, Modal, useMantineColorScheme } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { ConfirmProvider } from '../components/confirm.js';
import { ShortcutProvider } from '../components/shortcuts.js';
import { ToastProvider } from '../components/toasts.js';
import { DesktopProvider, useDesktop, type Desktop } from '../state/desktop-context.js';
import { useStore } from '../state/use-store.js';
import { cssVariablesResolver, theme } from '../theme/theme.js';
import { memoryColorScheme } from './color-scheme.js';
import { Frame } from './frame.js';

function FollowTheme() {
  const settings = useStore(useDesktop().settings);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const wanted = settings.theme === 'system' ? 'auto' : settings.theme;
  useEffect(() => {
    // Where it is that already nothing is set: Mantine turns all transitions off for a moment, and so has the whole page styled twice.
    if (colorScheme !== wanted) setColorScheme(wanted);
  }, [colorScheme, wanted, setColorScheme]);
  return null;
}

/** Everything a page needs around it; component tests use it without the frame. */
export function AppProviders({
  desktop,
  children,
}: {
  readonly desktop: Desktop;
  readonly children: ReactNode;
}) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      colorSchemeManager={memoryColorScheme}
    >
      <DesktopProvider desktop={desktop}>
        <FollowTheme />
        <ShortcutProvider>
          <ToastProvider>
            <Modal.Stack>
              <ConfirmProvider>{children}</ConfirmProvider>
            </Modal.Stack>
          </ToastProvider>
        </ShortcutProvider>
      </DesktopProvider>
    </MantineProvider>
  );
}

export function App({ desktop }: { readonly desktop: Desktop }) {
  return (
    <AppProviders desktop={desktop}>
      <Frame />
    </AppProviders>
  );
}
