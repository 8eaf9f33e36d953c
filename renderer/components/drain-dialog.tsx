/** How a machine is to be drained: what runs there ends by itself, or is requeued after a time. */
import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { MachineView } from '../../core/contract/machines.js';
import { durationExpected, parseDuration } from '../../core/formats/durations.js';
import { common } from '../strings/common.js';
import { machines as words } from '../strings/machines.js';
import { Dialog } from './dialog.js';
import styles from './drain-dialog.module.css';
import { useFocusBack } from './use-focus-back.js';

export interface DrainDialogProps {
  /** Null: closed. */
  readonly machine: MachineView | null;
  readonly onClose: () => void;
  readonly onDrain: (machine: MachineView, deadlineMs: number | null) => void;
}

export function DrainDialog({ machine, onClose, onDrain }: DrainDialogProps) {
  useFocusBack(machine !== null);
  return (
    <Dialog
      opened={machine !== null}
      onClose={onClose}
      title={machine === null ? '' : words.drainTitle(machine.id)}
    >
      {machine === null ? null : <DrainForm machine={machine} onClose={onClose} onDrain={onDrain} />}
    </Dialog>
  );
}

interface DrainFormProps extends DrainDialogProps {
  readonly machine: MachineView;
}

function DrainForm({ machine, onClose, onDrain }: DrainFormProps) {
  const [requeue, setRequeue] = useState(false);
  const [after, setAfter] = useState('30m');
  const [tried, setTried] = useState(false);
  const deadlineMs = parseDuration(after.trim());
  const asks = machine.runningTasks > 0;
  const submit = () => {
    setTried(true);
    if (asks && requeue && deadlineMs === undefined) return;
    onDrain(machine, asks && requeue ? (deadlineMs ?? null) : null);
    onClose();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p>{words.drainBody(machine.runningTasks)}</p>
      {asks ? (
        <fieldset className={styles['choices']}>
          <legend className="iris-visually-hidden">{words.drainTitle(machine.id)}</legend>
          <label className={styles['choice']}>
            <input
              type="radio"
              name="drain"
              data-autofocus
              checked={!requeue}
              onChange={() => {
                setRequeue(false);
              }}
            />
            {words.drainLet}
          </label>
          <div className={styles['choice']}>
            <input
              id="drain-after"
              type="radio"
              name="drain"
              checked={requeue}
              onChange={() => {
                setRequeue(true);
              }}
            />
            <label htmlFor="drain-after">{words.drainAfter}</label>
            <TextInput
              className={styles['after'] ?? ''}
              aria-label={words.drainAfterField}
              value={after}
              error={
                requeue && tried && deadlineMs === undefined
                  ? words.drainWrong(after.trim(), durationExpected)
                  : null
              }
              onFocus={() => {
                setRequeue(true);
              }}
              onChange={(event) => {
                setAfter(event.currentTarget.value);
              }}
            />
          </div>
          <p className={styles['hint']}>{words.drainAfterHint}</p>
        </fieldset>
      ) : null}
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={onClose}>
          {common.cancel}
        </Button>
        <Button type="submit" {...(asks ? {} : { 'data-autofocus': true })}>
          {words.drainAction(machine.id)}
        </Button>
      </Group>
    </form>
  );
}
