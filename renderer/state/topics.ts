/** How each topic's deltas change its last value, so that a component sees one value that is always whole. */
import type { TopicDelta, TopicName, TopicSnapshot } from '../../core/contract/api.js';
import type { TaskView } from '../../core/contract/views.js';

type Folds = { [T in TopicName]: (value: TopicSnapshot<T>, delta: TopicDelta<T>) => TopicSnapshot<T> };

/** Tasks by index; a task that changed replaces its former record, order stays. */
export function mergeTasks(before: readonly TaskView[], changed: readonly TaskView[]): TaskView[] {
  const byId = new Map(before.map((task) => [task.id, task]));
  for (const task of changed) byId.set(task.id, task);
  return [...byId.values()].sort((a, b) => a.index - b.index);
}

const folds: Folds = {
  jobs: (_value, delta) => ({ counts: delta.counts }),
  job: (value, delta) => ({
    summary: delta.summary,
    tasks: delta.tasks.length === 0 ? value.tasks : mergeTasks(value.tasks, delta.tasks),
  }),
  log: (_value, delta) => delta,
  overview: (_value, delta) => delta,
  budgets: (_value, delta) => delta,
  queue: (_value, delta) => delta,
  questions: (_value, delta) => delta,
  images: (_value, delta) => delta,
  inbox: (_value, delta) => ({ unread: delta.unread }),
  status: (_value, delta) => delta,
};

export function foldTopic<T extends TopicName>(
  topic: T,
  value: TopicSnapshot<T>,
  delta: TopicDelta<T>,
): TopicSnapshot<T> {
  const fold: Folds[T] = folds[topic];
  return fold(value, delta);
}
