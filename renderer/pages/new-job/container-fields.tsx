/** Where a job runs: on which machine, with its cards shared or not, and in which container. */
import { Autocomplete, Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { containerProfiles } from '../../../core/contract/container-fields.js';
import { useTopic } from '../../state/hooks.js';
import { useImages } from '../../state/use-images.js';
import { container as words } from '../../strings/container.js';
import styles from './new-job.module.css';
import { Rows } from './rows.js';
import { Section } from './section.js';
import type { JobFormControl } from './use-job-form.js';

export interface ContainerFieldsProps {
  readonly form: JobFormControl;
  readonly errorOf: (field: string) => string | null;
}

const pulls = [
  { value: '', label: words.pulls.MISSING },
  { value: 'ALWAYS', label: words.pulls.ALWAYS },
  { value: 'NEVER', label: words.pulls.NEVER },
];

const profiles = containerProfiles.map((value) => ({
  value: value === 'DEFAULT' ? '' : value,
  label: words.profiles[value],
}));

export function PlaceFields({ form, errorOf }: ContainerFieldsProps) {
  const { values } = form;
  const overview = useTopic('overview', {});
  const known = overview.kind === 'live' ? overview.value.machines.map(({ id }) => id) : [];
  // A machine that is not there (any more) stays as it was written; the check says what is wrong with it.
  const names = values.machine === '' || known.includes(values.machine) ? known : [...known, values.machine];
  const shareWrong = errorOf('shareGpu');
  const isOpen =
    values.machine !== '' ||
    values.shareGpu ||
    values.gpuMemory !== '' ||
    ['machine', 'shareGpu', 'gpuMemory'].some((field) => errorOf(field) !== null);
  return (
    <Section title={words.place} open={isOpen}>
      <div className={styles['two']}>
        <Select
          label={words.machine}
          data={[{ value: '', label: words.anyMachine }, ...names.map((value) => ({ value, label: value }))]}
          allowDeselect={false}
          value={values.machine}
          error={errorOf('machine')}
          onChange={(value) => {
            form.set({ machine: value ?? '' });
          }}
        />
        {values.shareGpu || values.gpuMemory !== '' ? (
          <TextInput
            label={words.gpuMemory}
            description={words.gpuMemoryHint}
            inputWrapperOrder={['label', 'input', 'error', 'description']}
            placeholder={words.gpuMemoryExample}
            {...form.text('gpuMemory')}
            error={errorOf('gpuMemory')}
          />
        ) : null}
      </div>
      <Checkbox
        label={words.shareGpu}
        description={words.shareGpuHint}
        checked={values.shareGpu}
        error={shareWrong !== null && values.gpu.trim() === '' ? words.shareNeedsGpu : shareWrong}
        onChange={(event) => {
          const shareGpu = event.currentTarget.checked;
          form.touch('shareGpu');
          form.set(shareGpu ? { shareGpu } : { shareGpu, gpuMemory: '' });
        }}
      />
    </Section>
  );
}

export function ContainerFields({ form, errorOf }: ContainerFieldsProps) {
  const { values } = form;
  const [asked, setAsked] = useState(false);
  // Every machine's Docker is asked for it, so not before somebody is about to choose one.
  const images = useImages(asked);
  const names = [...new Set((images.data?.images ?? []).flatMap((image) => image.names))].sort();
  const texts = ['image', 'shm', 'pidsLimit'] as const;
  const image = form.text('image');
  return (
    <Section
      title={words.container}
      open={
        values.setup.length > 0 ||
        values.mounts.length > 0 ||
        values.tty ||
        values.pull !== '' ||
        values.containerProfile !== '' ||
        texts.some((field) => values[field] !== '' || errorOf(field) !== null)
      }
    >
      <Autocomplete
        label={words.image}
        description={words.imageHint}
        placeholder={words.imageExample}
        classNames={{ input: 'iris-mono' }}
        spellCheck={false}
        data={names}
        limit={12}
        name={image.name}
        value={image.value}
        error={image.error}
        onFocus={() => {
          setAsked(true);
        }}
        onBlur={image.onBlur}
        onChange={(value) => {
          form.set({ image: value });
        }}
      />
      {values.image === '' && (values.setup.length > 0 || values.mounts.length > 0 || values.tty) ? (
        <p className={styles['note']}>{words.needsImage}</p>
      ) : null}
      <div className={styles['two']}>
        <Select
          label={words.pull}
          data={pulls}
          allowDeselect={false}
          value={values.pull}
          error={errorOf('pull')}
          onChange={(value) => {
            form.set({ pull: value ?? '' });
          }}
        />
        <Select
          label={words.profile}
          data={profiles}
          allowDeselect={false}
          value={values.containerProfile}
          error={errorOf('containerProfile')}
          onChange={(value) => {
            form.set({ containerProfile: value ?? '' });
          }}
        />
        <TextInput
          label={words.shm}
          description={words.shmHint}
          placeholder={words.shmExample}
          {...form.text('shm')}
        />
        <TextInput
          label={words.pids}
          description={words.pidsHint}
          placeholder={words.pidsExample}
          {...form.text('pidsLimit')}
        />
      </div>
      <Checkbox
        label={words.tty}
        checked={values.tty}
        onChange={(event) => {
          form.set({ tty: event.currentTarget.checked });
        }}
      />
      <Mounts form={form} errorOf={errorOf} />
      <Setup form={form} errorOf={errorOf} />
    </Section>
  );
}

function Mounts({ form, errorOf }: ContainerFieldsProps) {
  const { mounts } = form.values;
  return (
    <Rows
      rows={mounts}
      onChange={(rows) => {
        form.set({ mounts: rows });
      }}
      empty={{ source: '', target: '', readOnly: false }}
      className={styles['mount']}
      removeLabel={words.removeMount}
      addLabel={words.addMount}
      note={errorOf('mounts') === null ? null : <p className={styles['rowsWrong']}>{errorOf('mounts')}</p>}
    >
      {(row, index, set) => {
        const field = (part: 'source' | 'target', label: string, example: string) => (
          <TextInput
            aria-label={label}
            classNames={{ input: 'iris-mono' }}
            placeholder={example}
            spellCheck={false}
            error={errorOf(`mounts.${index}.${part}`)}
            value={row[part]}
            onChange={(event) => {
              set({ ...row, [part]: event.currentTarget.value });
            }}
            onBlur={() => {
              form.touch(`mounts.${index}.${part}`);
            }}
          />
        );
        return (
          <>
            {field('source', words.mountSource(index + 1), words.mountSourceExample)}
            {field('target', words.mountTarget(index + 1), words.mountTargetExample)}
            <Checkbox
              mt={7}
              label={words.readOnly}
              checked={row.readOnly}
              onChange={(event) => {
                set({ ...row, readOnly: event.currentTarget.checked });
              }}
            />
          </>
        );
      }}
    </Rows>
  );
}

function Setup({ form, errorOf }: ContainerFieldsProps) {
  const { setup } = form.values;
  return (
    <Rows
      rows={setup}
      onChange={(rows) => {
        form.set({ setup: rows });
      }}
      empty=""
      className={styles['script']}
      removeLabel={words.removeScript}
      addLabel={words.addScript}
    >
      {(script, index, set) => (
        <Textarea
          aria-label={words.script(index + 1)}
          classNames={{ input: 'iris-mono' }}
          placeholder={words.scriptExample}
          autosize
          minRows={2}
          maxRows={10}
          spellCheck={false}
          error={errorOf(`setup.${index}`)}
          value={script}
          onChange={(event) => {
            set(event.currentTarget.value);
          }}
          onBlur={() => {
            form.touch(`setup.${index}`);
          }}
        />
      )}
    </Rows>
  );
}
