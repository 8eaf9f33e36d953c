/** What the form calls the fields of the contract. */
import { container } from '../../strings/container.js';
import { newJob as words } from '../../strings/new-job.js';
import { formFieldOf, type JobForm } from './form-model.js';

const labels: Readonly<Record<string, string>> = {
  command: words.command,
  workingDirectory: words.folder,
  gpu: words.gpu,
  cpu: words.cpu,
  memory: words.memory,
  name: words.name,
  replicas: words.replicas,
  maxRetries: words.maxRetries,
  timeout: words.timeout,
  schedulingTimeout: words.schedulingTimeout,
  finishBy: words.finishBy,
  startNotBefore: words.startNotBefore,
  maxActive: words.maxActive,
  held: words.held,
  priority: words.priority,
  environment: words.environment,
  extras: words.extras,
  machine: container.machine,
  shareGpu: container.shareGpu,
  gpuMemory: container.gpuMemory,
  image: container.image,
  pull: container.pull,
  containerProfile: container.profile,
  shm: container.shm,
  pidsLimit: container.pids,
  tty: container.tty,
};

const rowLabels: Readonly<Record<string, (row: number) => string>> = {
  'environment.name': words.variableName,
  'environment.value': words.variableValue,
  'constraints.text': words.constraint,
  'dependencies.job': words.dependency,
  'mounts.source': container.mountSource,
  'mounts.target': container.mountTarget,
  setup: container.script,
};

/** The label of the field in the form; a field the form has no place for has its name in YAML alone. */
export function fieldLabel(field: string, form: JobForm): string {
  const [first = '', row, part] = formFieldOf(field, form).split('.');
  const ofRow = rowLabels[part === undefined ? first : `${first}.${part}`];
  if (row !== undefined && ofRow !== undefined) return ofRow(Number(row) + 1);
  return labels[first] ?? field;
}
