/** When a job may start and must have ended, and what it waits for. */
import { Checkbox, Select, TextInput } from '@mantine/core';
import { newJob as words } from '../../strings/new-job.js';
import type { DependencyWay, JobForm } from './form-model.js';
import styles from './new-job.module.css';
import { Rows } from './rows.js';
import { Section } from './section.js';
import type { JobFormControl } from './use-job-form.js';

export interface ScheduleFieldsProps {
  readonly form: JobFormControl;
  readonly errorOf: (field: string) => string | null;
}

const ways: readonly { readonly value: DependencyWay; readonly label: string }[] = [
  { value: 'SUCCESS', label: words.dependencyWays.SUCCESS },
  { value: 'END', label: words.dependencyWays.END },
  { value: 'FAILURE', label: words.dependencyWays.FAILURE },
];

const noDependency: JobForm['dependencies'][number] = { job: '', on: 'SUCCESS' };

export function ScheduleFields({ form, errorOf }: ScheduleFieldsProps) {
  const { values } = form;
  const fields = ['startNotBefore', 'finishBy', 'maxActive'] as const;
  return (
    <Section
      title={words.schedule}
      open={
        values.held ||
        values.dependencies.length > 0 ||
        fields.some((field) => values[field] !== '' || errorOf(field) !== null)
      }
    >
      <div className={styles['two']}>
        <TextInput
          label={words.startNotBefore}
          description={words.timeBoundHint}
          placeholder={words.timeBoundExample}
          {...form.text('startNotBefore')}
        />
        <TextInput
          label={words.finishBy}
          description={words.finishByHint}
          placeholder={words.finishByExample}
          {...form.text('finishBy')}
        />
        <TextInput
          label={words.maxActive}
          description={words.maxActiveHint}
          placeholder={words.maxActiveExample}
          {...form.text('maxActive')}
        />
      </div>
      <Checkbox
        label={words.held}
        checked={values.held}
        onChange={(event) => {
          form.set({ held: event.currentTarget.checked });
        }}
      />
      <Rows
        rows={values.dependencies}
        onChange={(dependencies) => {
          form.set({ dependencies });
        }}
        empty={noDependency}
        className={styles['row']}
        removeLabel={words.removeRow}
        addLabel={words.addDependency}
      >
        {(row, index, set) => (
          <>
            <TextInput
              aria-label={words.dependency(index + 1)}
              classNames={{ input: 'iris-mono' }}
              placeholder={words.dependencyExample}
              error={errorOf(`dependencies.${index}.job`)}
              value={row.job}
              onChange={(event) => {
                set({ ...row, job: event.currentTarget.value });
              }}
              onBlur={() => {
                form.touch(`dependencies.${index}.job`);
              }}
            />
            <Select
              aria-label={words.dependencyOn(index + 1)}
              data={ways}
              allowDeselect={false}
              value={row.on}
              onChange={(value) => {
                const chosen = ways.find((way) => way.value === value);
                if (chosen !== undefined) set({ ...row, on: chosen.value });
              }}
            />
          </>
        )}
      </Rows>
    </Section>
  );
}
