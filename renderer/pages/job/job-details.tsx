/** The exact request: as fields, as YAML and as the command line that would submit it again; and the job's record. */
import type { ReactNode } from 'react';
import { jobRoute, routeHash } from '../../app/router.js';
import { RelativeTime } from '../../components/time.js';
import { Dash, Size } from '../../components/values.js';
import type { JobDetail } from '../../../core/contract/api.js';
import { constraintToText } from '../../../core/contract/constraint-text.js';
import { jobDefaults, type JobSpec } from '../../../core/contract/job-request.js';
import { joinWords, toCommandLine } from '../../../core/contract/job-text.js';
import { requestToYaml, specToRequest } from '../../../core/contract/job-yaml.js';
import { formatDuration } from '../../../core/formats/durations.js';
import type { TimeBound } from '../../../core/formats/times.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { bandWords } from '../../strings/budgets.js';
import { formatCount, formatExactTime } from '../../strings/common.js';
import { container } from '../../strings/container.js';
import { job as words } from '../../strings/job.js';
import { queue } from '../../strings/queue.js';
import { CopyButton } from './copy-button.js';
import styles from './job-details.module.css';

export interface JobDetailsProps {
  readonly detail: JobDetail;
  readonly summary: JobSummary;
}

export function JobDetails({ detail, summary }: JobDetailsProps) {
  const { spec } = detail;
  const request = specToRequest(spec);
  const yaml = requestToYaml(request);
  const line = toCommandLine(request);
  return (
    <div className={styles['details']}>
      <section>
        <h2>{words.request}</h2>
        <dl className={styles['fields']}>
          {requestFields(spec).map(([name, value]) => (
            <Field key={name} name={name}>
              {value}
            </Field>
          ))}
        </dl>
      </section>
      <section>
        <h2>{words.record}</h2>
        <dl className={styles['fields']}>
          <Field name={words.path}>
            <span className="iris-mono">{summary.id}</span>
          </Field>
          <Field name={words.submitted}>
            <RelativeTime atMs={summary.submittedAtMs} long />
          </Field>
          <Field name={words.submittedBy}>{detail.submittedBy}</Field>
          <Field name={words.started}>
            {summary.startedAtMs === null ? (
              <Dash reason={words.notStarted} />
            ) : (
              <RelativeTime atMs={summary.startedAtMs} long />
            )}
          </Field>
          <Field name={words.ended}>
            {summary.finishedAtMs === null ? (
              <Dash reason={words.notEnded} />
            ) : (
              <RelativeTime atMs={summary.finishedAtMs} long />
            )}
          </Field>
          <Field name={words.band}>{bandWords[summary.band]}</Field>
          <Field name={words.failures}>{formatCount(summary.failureCount)}</Field>
          <Field name={words.preemptions}>{formatCount(summary.preemptionCount)}</Field>
          {summary.retryOf === null ? null : (
            <Field name={words.retryOf}>
              <a href={routeHash(jobRoute(summary.retryOf))} className="iris-mono">
                {summary.retryOf}
              </a>
            </Field>
          )}
        </dl>
      </section>
      <Text title={words.requestCommand} text={line.text}>
        {line.leftOut.length === 0 ? null : (
          <p className="iris-muted">{words.leftOut(line.leftOut.join(', '))}</p>
        )}
      </Text>
      <Text title={words.requestYaml} text={yaml} />
    </div>
  );
}

interface TextProps {
  readonly title: string;
  readonly text: string;
  readonly children?: ReactNode;
}

function Text({ title, text, children }: TextProps) {
  return (
    <section>
      <div className={styles['textHead']}>
        <h2>{title}</h2>
        <CopyButton text={text} what={title} />
      </div>
      <pre className={`${styles['text'] ?? ''} iris-mono`} tabIndex={0}>
        {text.trimEnd()}
      </pre>
      {children}
    </section>
  );
}

function Field({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={styles['field']}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Default({ asked, children }: { readonly asked: boolean; readonly children: ReactNode }) {
  return (
    <>
      {children}
      {asked ? null : <span className="iris-muted"> ({words.byDefault})</span>}
    </>
  );
}

function timeBoundText(bound: TimeBound): string {
  return bound.kind === 'at' ? formatExactTime(bound.ms) : words.afterSubmission(bound.ms);
}

/** Name and value of what was asked for; optional things only when they were. */
function requestFields(spec: JobSpec): [string, ReactNode][] {
  const fields: [string, ReactNode][] = [
    [
      words.command,
      <code key="c" className={`${styles['code'] ?? ''} iris-mono`}>
        {joinWords(spec.command)}
      </code>,
    ],
    [
      words.folder,
      <span key="f" className="iris-mono">
        {spec.workingDirectory}
      </span>,
    ],
    [
      words.cpu,
      <Default key="p" asked={spec.asked.cpu}>
        {words.cores(spec.cpuMillicores)} {words.perTask}
      </Default>,
    ],
    [
      words.memory,
      <Default key="m" asked={spec.asked.memory}>
        <Size bytes={spec.memoryBytes} /> {words.perTask}
        {spec.memoryIsLimit ? `, ${words.memoryLimit}` : ''}
      </Default>,
    ],
    [
      words.disk,
      <Default key="d" asked={spec.asked.disk}>
        <Size bytes={spec.diskBytes} /> {words.perTask}
      </Default>,
    ],
  ];
  if (spec.gpuCount > 0)
    fields.push([
      words.gpu,
      `${spec.gpuCount}${spec.gpuVariant === null ? '' : ` ${spec.gpuVariant}`} ${words.perTask}`,
    ]);
  if (spec.sharedGpuBytes !== null) fields.push([words.sharedGpu, words.sharedGpuUpTo(spec.sharedGpuBytes)]);
  if (spec.machine !== null) fields.push([container.machine, spec.machine]);
  fields.push(
    [words.replicas, formatCount(spec.replicas)],
    [words.retries, formatCount(spec.maxRetriesFailure)],
  );
  if (spec.maxRetriesPreemption !== jobDefaults.maxRetriesPreemption)
    fields.push([words.retriesLost, formatCount(spec.maxRetriesPreemption)]);
  if (spec.maxTaskFailures > 0) fields.push([words.taskFailures, formatCount(spec.maxTaskFailures)]);
  if (spec.priority !== 'INHERIT') fields.push([words.askedBand, bandWords[spec.priority]]);
  if (spec.timeoutMs !== null) fields.push([words.timeLimit, formatDuration(spec.timeoutMs)]);
  if (spec.schedulingTimeoutMs !== null)
    fields.push([words.startBy, formatDuration(spec.schedulingTimeoutMs)]);
  if (spec.startNotBefore !== null) fields.push([words.notBefore, timeBoundText(spec.startNotBefore)]);
  if (spec.finishBy !== null) fields.push([words.finishBy, timeBoundText(spec.finishBy)]);
  if (spec.maxActive !== null) fields.push([words.maxActive, formatCount(spec.maxActive)]);
  if (spec.held) fields.push([words.askedHeld, words.askedHeldYes]);
  if (spec.dependencies.length > 0) {
    fields.push([
      words.dependencies,
      <ul key="a" className={styles['list']}>
        {spec.dependencies.map(({ job, on }) => (
          <li key={`${job} ${on}`}>
            <a href={routeHash(jobRoute(job))} className="iris-mono">
              {job}
            </a>{' '}
            {queue.onWords[on]}
          </li>
        ))}
      </ul>,
    ]);
  }
  const variables = Object.entries(spec.environment);
  if (variables.length > 0) {
    fields.push([
      words.environment,
      <ul key="e" className={`${styles['list'] ?? ''} iris-mono`}>
        {variables.map(([name, value]) => (
          <li key={name}>
            {name}={value}
          </li>
        ))}
      </ul>,
    ]);
  }
  if (spec.constraints.length > 0) {
    fields.push([
      words.constraints,
      <ul key="w" className={`${styles['list'] ?? ''} iris-mono`}>
        {spec.constraints.map((wish) => (
          <li key={`${wish.key} ${wish.op}`}>
            {constraintToText(wish)}
            {wish.mode === 'PREFERRED' ? ` (${words.preferred})` : ''}
          </li>
        ))}
      </ul>,
    ]);
  }
  if (spec.gangBy !== null) fields.push([words.gangBy, spec.gangBy]);
  if (spec.extras.length > 0) fields.push([words.extras, spec.extras.join(', ')]);
  if (spec.ports.length > 0) fields.push([words.ports, spec.ports.join(', ')]);
  if (spec.files.length > 0) fields.push([words.files, spec.files.map((file) => file.path).join(', ')]);
  fields.push(...containerFields(spec));
  if (spec.stopSignal !== 'SIGTERM') fields.push([words.stopSignal, spec.stopSignal]);
  fields.push([words.grace, formatDuration(spec.graceMs)]);
  return fields;
}

/** What means something with an image only. */
function containerFields(spec: JobSpec): [string, ReactNode][] {
  if (spec.image === null) return [];
  const fields: [string, ReactNode][] = [
    [
      container.image,
      <span key="i" className="iris-mono">
        {spec.image}
      </span>,
    ],
  ];
  if (spec.pull !== 'MISSING') fields.push([container.pull, container.pulls[spec.pull]]);
  if (spec.containerProfile !== 'DEFAULT')
    fields.push([container.profile, container.profiles[spec.containerProfile]]);
  if (spec.mounts.length > 0) {
    fields.push([
      words.mounts,
      <ul key="o" className={`${styles['list'] ?? ''} iris-mono`}>
        {spec.mounts.map(({ source, target, readOnly }) => (
          <li key={target}>
            {source} → {target}
            {readOnly ? ` (${container.readOnly.toLowerCase()})` : ''}
          </li>
        ))}
      </ul>,
    ]);
  }
  spec.setup.forEach((script, index) => {
    fields.push([
      container.script(index + 1),
      <code key="s" className={`${styles['code'] ?? ''} iris-mono`}>
        {script}
      </code>,
    ]);
  });
  if (spec.shmBytes !== null) fields.push([container.shm, <Size key="h" bytes={spec.shmBytes} />]);
  if (spec.pidsLimit !== null) fields.push([container.pids, formatCount(spec.pidsLimit)]);
  if (spec.tty) fields.push([words.terminal, words.terminalYes]);
  return fields;
}
