/** What the Engine says of one container. */
import { z } from 'zod';
import { parseTimeBound } from '../times.js';
import { withoutKind } from './gpu-way.js';

const text = z.string().catch('');
const flag = z.boolean().catch(false);
const inspectSchema = z.object({
  Id: z.string(),
  Name: text,
  Image: text,
  State: z.object({
    Status: text,
    Running: flag,
    OOMKilled: flag,
    Pid: z.number().catch(0),
    ExitCode: z.number().catch(0),
    Error: text,
    StartedAt: text,
    FinishedAt: text,
  }),
  HostConfig: z
    .object({
      Runtime: text,
      Memory: z.number().catch(0),
      Devices: z
        .array(z.object({ PathOnHost: text }))
        .nullish()
        .catch(null),
      DeviceRequests: z
        .array(z.object({ DeviceIDs: z.array(z.string()).nullish().catch(null) }))
        .nullish()
        .catch(null),
    })
    .nullish()
    .catch(null),
  Config: z
    .object({
      Tty: flag,
      Image: text,
      Env: z.array(z.string()).nullish().catch(null),
      Labels: z.record(z.string(), z.string()).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

export interface ContainerView {
  readonly id: string;
  /** Without the slash in front. */
  readonly name: string;
  readonly image: string;
  readonly status: string;
  readonly running: boolean;
  /** Only of one that has ended. */
  readonly exitCode: number | null;
  readonly outOfMemory: boolean;
  /** Why it could not be started; null when it could. */
  readonly startError: string | null;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly pid: number | null;
  readonly tty: boolean;
  readonly memoryLimitBytes: number | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** UUIDs or numbers of the GPUs it was given. */
  readonly gpus: readonly string[];
}

/** Takes one answer of the Engine, or the list of one that the command line prints. Null: neither. */
export function readContainer(value: unknown): ContainerView | null {
  const parsed = inspectSchema.safeParse(Array.isArray(value) ? value[0] : value);
  if (!parsed.success) return null;
  const { State: state, HostConfig: host, Config: config } = parsed.data;
  const environment = readEnvironment(config?.Env ?? []);
  const labels = config?.Labels ?? {};
  const over = !state.Running && state.Status !== 'created';
  return {
    id: parsed.data.Id,
    name: parsed.data.Name.replace(/^\//, ''),
    image: config?.Image ?? parsed.data.Image,
    status: state.Status,
    running: state.Running,
    exitCode: over ? state.ExitCode : null,
    outOfMemory: state.OOMKilled,
    startError: state.Error === '' ? null : state.Error,
    startedAtMs: readTime(state.StartedAt),
    finishedAtMs: readTime(state.FinishedAt),
    pid: state.Pid > 0 ? state.Pid : null,
    tty: config?.Tty ?? false,
    memoryLimitBytes: host === null || host === undefined || host.Memory === 0 ? null : host.Memory,
    environment,
    labels,
    gpus: gpusOf(host, environment, labels),
  };
}

/** Entries are split at the first `=` only; one without it has no value. */
export function readEnvironment(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      return at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

/** The year 1 stands for never. */
function readTime(value: string): number | null {
  const bound = parseTimeBound(value.replace(/(\.\d{3})\d+/, '$1'));
  return bound?.kind === 'at' ? bound.ms : null;
}

function gpusOf(
  host: z.infer<typeof inspectSchema>['HostConfig'],
  environment: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): readonly string[] {
  const requested = (host?.DeviceRequests ?? []).flatMap(({ DeviceIDs: ids }) =>
    (ids ?? []).map(withoutKind),
  );
  if (requested.length > 0) return requested;
  const visible = environment['NVIDIA_VISIBLE_DEVICES'] ?? '';
  // The words all, none and void name no card.
  if (host?.Runtime === 'nvidia' && /^(GPU|MIG)-|^\d/.test(visible)) return listOf(visible);
  const nodes = (host?.Devices ?? []).flatMap(
    ({ PathOnHost: path }) => /^\/dev\/nvidia(\d+)$/.exec(path)?.[1] ?? [],
  );
  return nodes.length > 0 ? nodes.sort() : listOf(labels['GPU_ID'] ?? '').sort();
}

/** `0,1,` names two. */
function listOf(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
