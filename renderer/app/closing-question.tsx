/** Asked once when the window closes: stay in the tray, or quit. */
import { Button, Checkbox, Group } from '@mantine/core';
import { useCallback, useState } from 'react';
import { Dialog } from '../components/dialog.js';
import type { DesktopCommand } from '../state/bridge.js';
import { useDesktop, useDesktopCommands } from '../state/desktop-context.js';
import { common } from '../strings/common.js';

/** It listens from the first moment on: what is asked while the dialog is not `drawn` yet draws it. */
export function ClosingQuestion({ drawn }: { readonly drawn: boolean }) {
  const { bridge } = useDesktop();
  const [running, setRunning] = useState<number | null>(null);
  const [remember, setRemember] = useState(true);

  useDesktopCommands(
    useCallback((command: DesktopCommand) => {
      if (command.kind === 'closing-asks') setRunning(command.runningJobs);
    }, []),
  );

  const answer = (choice: 'tray' | 'quit' | 'cancel') => {
    setRunning(null);
    void bridge.answerClosing({ choice, remember: choice !== 'cancel' && remember });
  };

  if (!drawn && running === null) return null;
  return (
    <Dialog
      opened={running !== null}
      onClose={() => {
        answer('cancel');
      }}
      title={common.closingTitle}
    >
      <p>{common.closingBody(running ?? 0)}</p>
      <Checkbox
        mt="md"
        label={common.closingRemember}
        checked={remember}
        onChange={(event) => {
          setRemember(event.currentTarget.checked);
        }}
      />
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button
          variant="default"
          onClick={() => {
            answer('quit');
          }}
        >
          {common.closingQuit}
        </Button>
        <Button
          data-autofocus
          onClick={() => {
            answer('tray');
          }}
        >
          {common.closingTray}
        </Button>
      </Group>
    </Dialog>
  );
}
