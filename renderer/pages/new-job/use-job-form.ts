/**
 * State of the form: its values, which fields were left once, and the errors to show beside them. What is wrong is judged by the
 * contract's schema on every change; a field shows it once it was left or a submission was tried.
 */
import { useMemo, useRef, useState, type ChangeEvent } from 'react';
import { useAfterPress } from '../../components/use-after-press.js';
import type { FieldError } from '../../../core/contract/errors.js';
import { newJob as words } from '../../strings/new-job.js';
import { formErrors, formFieldOf, type JobForm, type TextField } from './form-model.js';

export interface TextProps {
  readonly name: string;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
  readonly onBlur: () => void;
}

export interface JobFormControl {
  readonly values: JobForm;
  readonly set: (change: Partial<JobForm>) => void;
  /** Replaces everything; nothing counts as left any more. */
  readonly fill: (values: JobForm) => void;
  readonly touch: (field: string) => void;
  readonly errorOf: (field: string) => string | null;
  /** Something is wrong at or below this field, and shows. */
  readonly text: (field: TextField) => TextProps;
  /** Shows every error from now on; true when there is none. */
  readonly tryAll: () => boolean;
  /** Errors of the controller, by the contract's field names; each goes when its field changes. */
  readonly refuse: (fields: readonly FieldError[]) => void;
}

interface FormState {
  readonly values: JobForm;
  readonly touched: ReadonlySet<string>;
  readonly all: boolean;
  readonly refused: Readonly<Record<string, string>>;
}

export function errorText(field: FieldError): string {
  return ['nothing', '[]', 'empty text'].includes(field.value)
    ? words.required(field.expected)
    : words.fieldError(field.value, field.expected);
}

export function useJobForm(start: JobForm): JobFormControl {
  const [state, setState] = useState<FormState>({
    values: start,
    touched: new Set(),
    all: false,
    refused: {},
  });
  const { values, touched, all, refused } = state;
  const afterPress = useAfterPress();
  /** How often it was filled anew: a field that was left before that is not left in what is there now. */
  const filled = useRef(0);
  const wrong = useMemo(() => {
    const byField = new Map<string, string>();
    for (const field of formErrors(values)) {
      const name = formFieldOf(field.field, values);
      if (!byField.has(name)) byField.set(name, errorText(field));
    }
    return byField;
  }, [values]);

  return useMemo(() => {
    const errorOf = (field: string): string | null =>
      refused[field] ?? (all || touched.has(field) ? (wrong.get(field) ?? null) : null);
    const set = (change: Partial<JobForm>) => {
      setState((before) => ({
        ...before,
        values: { ...before.values, ...change },
        refused: Object.fromEntries(
          Object.entries(before.refused).filter(([field]) => !((field.split('.')[0] ?? '') in change)),
        ),
      }));
    };
    const touch = (field: string) => {
      setState((before) => ({ ...before, touched: new Set([...before.touched, field]) }));
    };
    return {
      values,
      set,
      touch,
      errorOf,
      fill: (next) => {
        filled.current += 1;
        setState({ values: next, touched: new Set(), all: false, refused: {} });
      },
      text: (field) => ({
        name: field,
        value: values[field],
        error: errorOf(field),
        onChange: (event) => {
          set({ [field]: event.currentTarget.value });
        },
        onBlur: () => {
          const at = filled.current;
          afterPress(() => {
            if (filled.current === at) touch(field);
          });
        },
      }),
      tryAll: () => {
        setState((before) => ({ ...before, all: true }));
        return wrong.size === 0;
      },
      refuse: (fields) => {
        setState((before) => ({
          ...before,
          refused: Object.fromEntries(
            fields.map((field) => [formFieldOf(field.field, before.values), errorText(field)]),
          ),
        }));
      },
    };
  }, [values, touched, all, refused, wrong, afterPress]);
}
