/** Asks which image to fetch, and to which machine. */
import { Button, Group, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { imageName } from '../../../core/contract/container-fields.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { Dialog } from '../../components/dialog.js';
import { useIsShown } from '../../components/use-is-shown.js';
import { useRefused } from '../../components/use-refused.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { common } from '../../strings/common.js';
import { images as words } from '../../strings/images.js';
import styles from './images-page.module.css';

export interface PullFormProps {
  readonly opened: boolean;
  readonly machines: readonly MachineView[];
  readonly onClose: () => void;
}

export function PullForm({ opened, machines, onClose }: PullFormProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={words.pullTitle}>
      <Fields machines={machines} onClose={onClose} />
    </Dialog>
  );
}

function Fields({ machines, onClose }: Omit<PullFormProps, 'opened'>) {
  const host = useHost();
  const ready = machines.filter(({ docker }) => docker.state === 'READY').map(({ id }) => id);
  const [image, setImage] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const [sending, setSending] = useState(false);
  const isShown = useIsShown();
  const [refused, setRefused] = useRefused(words.notPulled);
  const machine = chosen ?? ready[0] ?? null;
  const read = imageName.safeParse(image);
  const submit = async () => {
    setTried(true);
    setRefused(null);
    if (!read.success || machine === null) return;
    setSending(true);
    try {
      await host.call('image.pull', { machineId: machine, image: read.data });
      if (isShown.current) onClose();
    } catch (error) {
      setRefused(asRefusal(error).message);
      setSending(false);
    }
  };
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextInput
        data-autofocus
        label={words.image}
        placeholder={words.imageExample}
        classNames={{ input: 'iris-mono' }}
        spellCheck={false}
        value={image}
        error={tried && !read.success ? words.wrong(image, read.error.issues[0]?.message ?? '') : null}
        onChange={(event) => {
          setImage(event.currentTarget.value);
        }}
      />
      <Select
        label={words.machine}
        data={ready}
        allowDeselect={false}
        value={machine}
        error={ready.length === 0 ? words.noMachine : null}
        onChange={setChosen}
      />
      {refused === null ? null : (
        <p className={styles['refused']} role="alert">
          {words.notPulled(refused)}
        </p>
      )}
      <Group justify="flex-end" mt="sm" gap="sm">
        <Button variant="default" onClick={onClose}>
          {common.cancel}
        </Button>
        <Button type="submit" loading={sending} disabled={ready.length === 0}>
          {words.pull}
        </Button>
      </Group>
    </form>
  );
}
