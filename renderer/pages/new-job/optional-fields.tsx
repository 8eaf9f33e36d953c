/** What most jobs leave alone, folded until wanted. */
import { Checkbox, Select, TextInput } from '@mantine/core';
import type { BudgetView } from '../../../core/contract/budgets.js';
import type { FieldError } from '../../../core/contract/errors.js';
import { bandRank, isUpperBand, type Band } from '../../../core/contract/states.js';
import { useBudgets } from '../../state/use-budgets.js';
import { bandWords, budgets } from '../../strings/budgets.js';
import { newJob as words } from '../../strings/new-job.js';
import { ContainerFields, PlaceFields } from './container-fields.js';
import styles from './new-job.module.css';
import { ScheduleFields } from './schedule-fields.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { errorText, type JobFormControl } from './use-job-form.js';

export interface OptionalFieldsProps {
  readonly form: JobFormControl;
  /** What the controller says is wrong with the request as it is. */
  readonly checked: readonly FieldError[];
}

const choices: readonly { readonly value: string; readonly band: Band; readonly label: string }[] = [
  { value: '', band: 'INTERACTIVE', label: words.bandDefault },
  { value: 'PRODUCTION', band: 'PRODUCTION', label: words.production },
  { value: 'INTERACTIVE', band: 'INTERACTIVE', label: words.interactive },
  { value: 'BATCH', band: 'BATCH', label: words.batch },
  { value: 'SYSTEM', band: 'SYSTEM', label: words.system },
];

/** Bands one may not ask for are grey and say why; all are open while one's budget is not known. */
function bandChoices(mine: BudgetView | null) {
  return choices.map(({ value, band, label }) => {
    if (mine === null) return { value, label };
    if (isUpperBand(band)) {
      const open = mine.allow.includes(band);
      return { value, label: open ? label : budgets.bandNeedsRight(bandWords[band]), disabled: !open };
    }
    const open = bandRank(band) >= bandRank(mine.maxBand);
    return { value, label: open ? label : budgets.bandAboveBest(label), disabled: !open };
  });
}

export function OptionalFields({ form, checked }: OptionalFieldsProps) {
  const { values } = form;
  const budget = useBudgets();
  const mine = budget.kind === 'live' ? budget.mine : null;
  const asked = checked.find(
    (field) => field.field === 'priority' && field.value === values.priority.toLowerCase(),
  );
  const errorOf = (field: string): string | null =>
    form.errorOf(field) ?? (field === 'priority' && asked !== undefined ? errorText(asked) : null);
  const wrong = (prefix: string) => errorOf(prefix) !== null;
  return (
    <div>
      <Section title={words.environment} open={values.environment.length > 0}>
        <Rows
          rows={values.environment}
          onChange={(environment) => {
            form.set({ environment });
          }}
          empty={{ name: '', value: '' }}
          className={styles['row']}
          removeLabel={words.removeRow}
          addLabel={words.addVariable}
        >
          {(row, index, set) => (
            <>
              <TextInput
                aria-label={words.variableName(index + 1)}
                classNames={{ input: 'iris-mono' }}
                placeholder="NAME"
                error={errorOf(`environment.${index}.name`)}
                value={row.name}
                onChange={(event) => {
                  set({ ...row, name: event.currentTarget.value });
                }}
                onBlur={() => {
                  form.touch(`environment.${index}.name`);
                }}
              />
              <TextInput
                aria-label={words.variableValue(index + 1)}
                classNames={{ input: 'iris-mono' }}
                error={errorOf(`environment.${index}.value`)}
                value={row.value}
                onChange={(event) => {
                  set({ ...row, value: event.currentTarget.value });
                }}
                onBlur={() => {
                  form.touch(`environment.${index}.value`);
                }}
              />
            </>
          )}
        </Rows>
      </Section>
      <PlaceFields form={form} errorOf={errorOf} />
      <ContainerFields form={form} errorOf={errorOf} />
      <Section
        title={words.limits}
        open={
          [values.replicas, values.maxRetries, values.timeout, values.schedulingTimeout].some(
            (text) => text !== '',
          ) || ['replicas', 'maxRetries', 'timeout', 'schedulingTimeout'].some(wrong)
        }
      >
        <div className={styles['two']}>
          <TextInput
            label={words.replicas}
            description={words.replicasHint}
            placeholder="1"
            {...form.text('replicas')}
          />
          <TextInput
            label={words.maxRetries}
            description={words.maxRetriesHint}
            placeholder="0"
            {...form.text('maxRetries')}
          />
          <TextInput label={words.timeout} placeholder={words.timeoutExample} {...form.text('timeout')} />
          <TextInput
            label={words.schedulingTimeout}
            placeholder={words.timeoutExample}
            {...form.text('schedulingTimeout')}
          />
        </div>
      </Section>
      <ScheduleFields form={form} errorOf={errorOf} />
      <Section
        title={words.priorityAndName}
        open={values.priority !== '' || values.name !== '' || wrong('priority') || wrong('name')}
      >
        <div className={styles['two']}>
          <Select
            label={words.priority}
            data={bandChoices(mine)}
            allowDeselect={false}
            value={values.priority === 'INHERIT' ? '' : values.priority}
            error={errorOf('priority')}
            onChange={(value) => {
              form.set({ priority: value ?? '' });
            }}
          />
          <TextInput label={words.name} placeholder={words.nameExample} {...form.text('name')} />
        </div>
      </Section>
      <Section
        title={words.constraints}
        open={
          values.constraints.length > 0 || values.extras !== '' || wrong('constraints') || wrong('extras')
        }
      >
        <Rows
          rows={values.constraints}
          onChange={(constraints) => {
            form.set({ constraints });
          }}
          empty={{ text: '', preferred: false }}
          className={styles['row']}
          removeLabel={words.removeRow}
          addLabel={words.addConstraint}
        >
          {(row, index, set) => (
            <>
              <TextInput
                aria-label={words.constraint(index + 1)}
                classNames={{ input: 'iris-mono' }}
                placeholder={words.constraintExample}
                error={errorOf(`constraints.${index}.text`)}
                value={row.text}
                onChange={(event) => {
                  set({ ...row, text: event.currentTarget.value });
                }}
                onBlur={() => {
                  form.touch(`constraints.${index}.text`);
                }}
              />
              <Checkbox
                label={words.preferred}
                checked={row.preferred}
                onChange={(event) => {
                  set({ ...row, preferred: event.currentTarget.checked });
                }}
              />
            </>
          )}
        </Rows>
        <TextInput label={words.extras} placeholder={words.extrasExample} {...form.text('extras')} />
      </Section>
    </div>
  );
}
