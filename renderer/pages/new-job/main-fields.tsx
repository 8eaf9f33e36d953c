/** The fields most jobs need: command, folder, GPUs, cores, memory, with what is free beside each. */
import { Button, Textarea, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../../components/icon.js';
import { answering, gpusOf } from '../../components/machine-figures.js';
import { useToast } from '../../components/toasts.js';
import { useAfterPress } from '../../components/use-after-press.js';
import type { FieldError } from '../../../core/contract/errors.js';
import { joinWords, parseCommandText } from '../../../core/contract/job-text.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { asRefusal, useTopic } from '../../state/hooks.js';
import { useDesktop } from '../../state/desktop-context.js';
import { newJob as words } from '../../strings/new-job.js';
import { spreadCommand } from './form-model.js';
import { errorText, type JobFormControl } from './use-job-form.js';
import styles from './new-job.module.css';

export interface MainFieldsProps {
  readonly form: JobFormControl;
  /** What the controller says of the fields as they are. */
  readonly checked: readonly FieldError[];
}

const sum = (machines: readonly MachineView[], of: (machine: MachineView) => number): number =>
  machines.reduce((total, machine) => total + of(machine), 0);

export function MainFields({ form, checked }: MainFieldsProps) {
  const { bridge } = useDesktop();
  const toast = useToast();
  const afterPress = useAfterPress();
  const [unused, setUnused] = useState<readonly string[]>([]);
  const [writesFolder, setWritesFolder] = useState(false);
  const overview = useTopic('overview', {});
  const machines = overview.kind === 'live' ? answering(overview.value.machines) : null;
  const gpus = overview.kind === 'live' ? gpusOf(overview.value.machines) : null;
  const { command } = form.values;
  const read = parseCommandText(command);
  const shellOnly = read.ok ? read.value.shellOnly : [];

  const spread = (text: string) => {
    const now = { ...form.values, command: text };
    const next = spreadCommand(now);
    if (next === null) return;
    const pasted = parseCommandText(now.command);
    setUnused(pasted.ok ? pasted.value.unused : []);
    // What was left, or tried to be submitted, stays so: a press of Submit leaves the command as well, and comes first.
    form.set(next);
    toast({ tone: 'info', text: words.flagsRead });
  };
  const latest = useRef(spread);
  useEffect(() => {
    latest.current = spread;
  });
  const pick = async () => {
    try {
      const folder = form.values.workingDirectory;
      const picked = await bridge.pickFolder(folder === '' ? undefined : folder);
      if (picked !== null) {
        form.set({ workingDirectory: picked });
      }
    } catch (error) {
      toast({ tone: 'error', text: words.pickFailed(asRefusal(error).message) });
    }
  };
  const field = form.text('command');
  const folder = form.text('workingDirectory');
  const missing = checked.find(
    (found) => found.field === 'workingDirectory' && found.value === folder.value.trim(),
  );
  return (
    <>
      <div>
        <Textarea
          label={words.command}
          description={words.commandHint}
          placeholder={words.commandExample}
          classNames={{ input: 'iris-mono' }}
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          autoFocus
          {...field}
          onBlur={(event) => {
            const area = event.currentTarget;
            field.onBlur();
            afterPress(() => {
              if (area.isConnected) latest.current(area.value);
            });
          }}
          onPaste={(event) => {
            const area = event.currentTarget;
            // The field holds the pasted text only after this event.
            setTimeout(() => {
              spread(area.value);
            });
          }}
        />
        {shellOnly.length === 0 ? null : (
          <div className={styles['note']}>
            <Icon name="info" size={14} />
            <span>{words.shellOnly(shellOnly.join(' '))}</span>
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => {
                form.set({ command: joinWords(['sh', '-c', command.trim()]) });
              }}
            >
              {words.wrapInShell}
            </Button>
          </div>
        )}
        {form.values.literal ? (
          <div className={styles['note']}>
            <Icon name="info" size={14} />
            <span>{words.literal}</span>
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => {
                const next = { ...form.values, literal: false };
                form.fill(spreadCommand(next) ?? next);
              }}
            >
              {words.readFlags}
            </Button>
          </div>
        ) : null}
        {unused.length === 0 ? null : <div className={styles['note']}>{words.unused(unused.join(', '))}</div>}
      </div>
      <div className={styles['folder']}>
        <TextInput
          label={words.folder}
          placeholder={words.folderExample}
          classNames={{ input: 'iris-mono' }}
          spellCheck={false}
          {...folder}
          error={folder.error ?? (missing === undefined || writesFolder ? null : errorText(missing))}
          onFocus={() => {
            setWritesFolder(true);
          }}
          onBlur={() => {
            folder.onBlur();
            afterPress(() => {
              setWritesFolder(false);
            });
          }}
        />
        <Button variant="default" leftSection={<Icon name="folder" size={14} />} onClick={() => void pick()}>
          {words.pick}
        </Button>
      </div>
      <div className={styles['three']}>
        <TextInput
          label={words.gpu}
          description={gpus === null ? ' ' : words.freeGpus(gpus.free, gpus.all)}
          placeholder={words.gpuExample}
          {...form.text('gpu')}
        />
        <TextInput
          label={words.cpu}
          description={
            machines === null
              ? ' '
              : words.freeCores(
                  sum(machines, (machine) => machine.cpuMillicoresFree) / 1000,
                  sum(machines, (machine) => machine.cpuMillicoresTotal) / 1000,
                )
          }
          placeholder={words.cpuExample}
          {...form.text('cpu')}
        />
        <TextInput
          label={words.memory}
          description={
            machines === null
              ? ' '
              : words.freeMemory(
                  sum(machines, (machine) => machine.memoryFreeForJobsBytes),
                  sum(machines, (machine) => machine.memoryTotalBytes),
                )
          }
          placeholder={words.memoryExample}
          {...form.text('memory')}
        />
      </div>
    </>
  );
}
