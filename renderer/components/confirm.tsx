/** One question before what cannot be undone. It names the thing, and the button is a verb. */
import { Button, Group } from '@mantine/core';
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';
import { common } from '../strings/common.js';
import { Dialog } from './dialog.js';
import { useFocusBack } from './use-focus-back.js';
import { useLater } from './use-later.js';

export interface Confirmation {
  /** The question: `Stop train-llm?` */
  readonly title: string;
  /** What is lost and what stays. */
  readonly body: ReactNode;
  /** The verb: `Stop 3 jobs`. */
  readonly action: string;
  readonly danger?: boolean;
}

type Ask = (confirmation: Confirmation) => Promise<boolean>;

const ConfirmContext = createContext<Ask | null>(null);

export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const [shown, setShown] = useState<Confirmation | null>(null);
  const answer = useRef<((yes: boolean) => void) | null>(null);
  const later = useLater();
  useFocusBack(open);

  const settle = useCallback((yes: boolean) => {
    answer.current?.(yes);
    answer.current = null;
    setOpen(false);
  }, []);

  const ask = useCallback<Ask>(
    (confirmation) =>
      new Promise((resolve) => {
        answer.current?.(false);
        answer.current = resolve;
        setShown(confirmation);
        setOpen(true);
      }),
    [],
  );

  const value = useMemo(() => ask, [ask]);
  return (
    <ConfirmContext.Provider value={value}>
      {children}
      {later || shown !== null ? (
        <Dialog
          opened={open}
          onClose={() => {
            settle(false);
          }}
          title={shown?.title}
        >
          <div>{shown?.body}</div>
          <Group justify="flex-end" mt="lg" gap="sm">
            <Button
              variant="default"
              onClick={() => {
                settle(false);
              }}
            >
              {common.cancel}
            </Button>
            <Button
              data-autofocus
              color={shown?.danger === true ? 'danger' : 'iris'}
              onClick={() => {
                settle(true);
              }}
            >
              {shown?.action}
            </Button>
          </Group>
        </Dialog>
      ) : null}
    </ConfirmContext.Provider>
  );
}

/** Asks and gives the answer; a second question ends the first with no. */
export function useConfirm(): Ask {
  const ask = useContext(ConfirmContext);
  if (ask === null) throw new Error('useConfirm outside of ConfirmProvider');
  return ask;
}
