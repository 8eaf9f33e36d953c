/** A form, a YAML file and a command line: three views of one job, checked while it is written, submitted from anywhere. */
import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { navigate, newJobRoute, type NewJobMode } from '../../app/router.js';
import { ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { KeyHint } from '../../components/key-hint.js';
import { PageHeader } from '../../components/page-header.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { useToast } from '../../components/toasts.js';
import { useIsShown } from '../../components/use-is-shown.js';
import { ok, type FieldError, type Refusal } from '../../../core/contract/errors.js';
import { parseJobRequest } from '../../../core/contract/job-request.js';
import { requestToYaml, specToRequest, yamlToRequest } from '../../../core/contract/job-yaml.js';
import { asRefusal, useCall } from '../../state/hooks.js';
import { newJob as words } from '../../strings/new-job.js';
import { CheckPanel } from './check-panel.js';
import { isWorthless, keepDraft, keptDraft, type Draft } from './draft.js';
import { emptyForm, formToRequest, requestToForm, type JobForm } from './form-model.js';
import { MainFields } from './main-fields.js';
import styles from './new-job.module.css';
import { OptionalFields } from './optional-fields.js';
import { RecentJobs } from './recent-jobs.js';
import { useCheck } from './use-check.js';
import { useDrop } from './use-drop.js';
import { useJobForm } from './use-job-form.js';
import { refusalText, useSubmit } from './use-submit.js';

export interface NewJobPageProps {
  /** The job whose request fills the form, or null for an empty one. */
  readonly from: string | null;
  readonly mode: NewJobMode | null;
}

const nothingWrong: readonly FieldError[] = [];

/** What the form is asked for before anything can be said of it: not yet a fault, unless the field was left or it was to be submitted. */
function stillToWrite(
  values: JobForm,
  wrong: readonly FieldError[],
  folderError: string | null,
): string | null {
  if (values.command.trim() === '') return words.typeCommand;
  const [only, second] = wrong;
  const isFolder = only?.field === 'workingDirectory' && second === undefined;
  return isFolder && values.workingDirectory.trim() === '' && folderError === null
    ? words.chooseFolder
    : null;
}

export function NewJobPage({ from }: NewJobPageProps) {
  const source = useCall('job.get', { jobId: from ?? '-' }, { enabled: from !== null });
  if (from === null) {
    return <JobEditor title={words.title} start={emptyForm} from={null} />;
  }
  if (source.error !== null && source.data === undefined) {
    return (
      <>
        <PageHeader title={words.title} />
        <div style={{ padding: '0 16px' }}>
          <ErrorState
            what={words.fromWhat(from)}
            refusal={asRefusal(source.error)}
            onRetry={() => void source.refetch()}
          />
        </div>
      </>
    );
  }
  if (source.data === undefined) {
    return (
      <>
        <PageHeader title={words.title} />
        <div className={styles['form']}>
          <LoadingNote />
          <Skeleton width="100%" height={64} />
          <Skeleton width="100%" height={30} />
          <Skeleton width="100%" height={30} />
        </div>
      </>
    );
  }
  return (
    <JobEditor
      title={words.titleFrom(source.data.summary.name)}
      start={requestToForm(specToRequest(source.data.spec))}
      from={from}
    />
  );
}

interface JobEditorProps {
  readonly title: string;
  /** What the form holds before anything is written. */
  readonly start: JobForm;
  /** The job that is edited; null for a new one. */
  readonly from: string | null;
}

function JobEditor({ title, start, from }: JobEditorProps) {
  const toast = useToast();
  const [kept] = useState(() => keptDraft(from));
  const [isKept, setIsKept] = useState(kept !== null && from !== null);
  const form = useJobForm(kept?.form ?? start);
  const [yaml, setYaml] = useState<string | null>(kept?.yaml ?? null);
  const [yamlError, setYamlError] = useState<string | null>(null);
  const [refused, setRefused] = useState<Refusal | null>(null);
  const { values, fill: fillForm, refuse: refuseFields } = form;
  const onRefused = useCallback(
    (reason: Refusal | null) => {
      setRefused(reason);
      if (reason !== null) refuseFields(reason.fields);
    },
    [refuseFields],
  );
  const submission = useSubmit(from, onRefused);
  const isShown = useIsShown();

  const first = useRef(start);
  useEffect(() => {
    keepDraft(from, { form: values, yaml }, first.current);
  }, [from, values, yaml]);

  const written = useMemo(
    () => (yaml === null ? formToRequest(values) : yamlToRequest(yaml, { draft: true })),
    [yaml, values],
  );
  const request = written.ok ? written.value : null;
  const judged = useMemo(() => (request === null ? null : parseJobRequest(request)), [request]);
  const wrong = !written.ok ? written.refusal.fields : judged?.ok === false ? judged.refusal.fields : [];
  const check = useCheck(wrong.length === 0 ? request : null);
  const checked = check.kind === 'answered' ? check.answer.fields : nothingWrong;
  const ask = yaml === null ? stillToWrite(values, wrong, form.errorOf('workingDirectory')) : null;

  const submit = () => {
    if (submission.submitting) return;
    if (yaml !== null) {
      const read = yamlToRequest(yaml);
      if (read.ok) submission.submit(read.value, { form: values, yaml });
      else setYamlError(read.refusal.message);
      return;
    }
    if (!form.tryAll()) return;
    const read = formToRequest(values);
    if (read.ok) submission.submit(read.value, { form: values, yaml });
  };
  useShortcuts(words.keysTitle, [
    {
      keys: 'mod+Enter',
      label: words.keySubmit,
      inFields: true,
      run: () => {
        submit();
      },
    },
  ]);

  const fill = useCallback(
    (next: JobForm) => {
      fillForm(next);
      setIsKept(false);
      setYaml(null);
      setYamlError(null);
      setRefused(null);
    },
    [fillForm],
  );
  const replaced = useRef<{ readonly by: JobForm; readonly before: Draft } | null>(null);
  /** Puts something else into the form, and what was written back where that was not meant. */
  const replace = (next: JobForm) => {
    const last = replaced.current;
    // What was put there and not touched since was not written: the way back leads past it.
    const before: Draft = yaml === null && last?.by === values ? last.before : { form: values, yaml };
    replaced.current = { by: next, before };
    fill(next);
    if (isWorthless(before, first.current)) return;
    const undo = () => {
      if (isShown.current) {
        fill(before.form);
        setYaml(before.yaml);
        return;
      }
      keepDraft(from, before, first.current);
      navigate(newJobRoute(from, from === null ? null : 'edit'));
    };
    toast({ tone: 'info', text: words.replaced, action: { label: words.undo, run: undo }, again: true });
  };
  // As it is written now: the form is older while it is looked at as YAML.
  useDrop(fill, () => (yaml === null ? ok(values) : written.ok ? ok(requestToForm(written.value)) : written));

  const changeView = (view: 'form' | 'yaml') => {
    if (view === 'yaml') {
      const read = formToRequest(values);
      if (read.ok) setYaml(requestToYaml(read.value));
      else form.tryAll();
      return;
    }
    if (yaml === null) return;
    const read = yamlToRequest(yaml, { draft: true });
    if (!read.ok) setYamlError(read.refusal.message);
    else fill(requestToForm(read.value));
  };

  return (
    <>
      <PageHeader
        title={title}
        actions={
          <>
            <SegmentedControl
              aria-label={words.views}
              value={yaml === null ? 'form' : 'yaml'}
              onChange={changeView}
              data={[
                { value: 'form', label: words.viewForm },
                { value: 'yaml', label: words.viewYaml },
              ]}
            />
            <Button
              variant="default"
              onClick={() => {
                replace(emptyForm);
              }}
            >
              {words.clear}
            </Button>
            <Button
              loading={submission.submitting}
              rightSection={<KeyHint keys="mod+Enter" />}
              onClick={submit}
            >
              {words.submit}
            </Button>
          </>
        }
      />
      <div className={styles['page']}>
        <form
          className={styles['form']}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          {refused === null ? null : (
            <div role="alert" style={{ color: 'var(--iris-failed)' }}>
              {refusalText(refused)}
            </div>
          )}
          {isKept ? (
            <p className={styles['note']} role="status">
              <span>{words.keptEdits}</span>
              <Button
                variant="subtle"
                size="compact-xs"
                onClick={() => {
                  replace(start);
                }}
              >
                {words.asSubmitted}
              </Button>
            </p>
          ) : null}
          {yaml === null ? (
            <>
              {from === null ? <RecentJobs onFill={replace} /> : null}
              <MainFields form={form} checked={checked} />
              <OptionalFields form={form} checked={checked} />
              {Object.keys(values.rest).length === 0 ? null : (
                <p className="iris-muted">
                  {form.errorOf('rest') ?? words.rest(Object.keys(values.rest).join(', '))}
                </p>
              )}
            </>
          ) : (
            <Textarea
              className={styles['yaml'] ?? ''}
              classNames={{ input: 'iris-mono' }}
              label={words.yamlField}
              autosize
              spellCheck={false}
              value={yaml}
              error={yamlError}
              onChange={(event) => {
                setYaml(event.currentTarget.value);
                setYamlError(null);
              }}
            />
          )}
        </form>
        <CheckPanel
          check={check}
          request={request}
          wrong={wrong}
          ask={ask}
          form={yaml === null ? values : null}
        />
      </div>
    </>
  );
}
