/** A script, a folder or a YAML file dropped on the window fills the form. */
import { useEffect } from 'react';
import { useToast } from '../../components/toasts.js';
import type { Result } from '../../../core/contract/errors.js';
import { joinWords } from '../../../core/contract/job-text.js';
import { yamlToRequest } from '../../../core/contract/job-yaml.js';
import { dropped } from '../../state/dropped.js';
import { asRefusal } from '../../state/hooks.js';
import { useStore } from '../../state/use-store.js';
import { newJob as words } from '../../strings/new-job.js';
import { requestToForm, type JobForm } from './form-model.js';

/** The form for a dropped path: a script runs by its interpreter in its folder; a folder becomes the working folder. */
export function formForPath(path: string, isFolder: boolean, form: JobForm): JobForm {
  if (isFolder) return { ...form, workingDirectory: path };
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  const name = path.slice(cut + 1);
  const folder = cut <= 0 ? path.slice(0, cut + 1) : path.slice(0, cut);
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase();
  if (ending === 'py') return { ...form, command: joinWords(['python3', name]), workingDirectory: folder };
  if (ending === 'sh') return { ...form, command: joinWords(['sh', name]), workingDirectory: folder };
  return { ...form, command: joinWords([`./${name}`]), workingDirectory: folder };
}

/** `current`: what the form says now, which a script or a folder is put into. */
export function useDrop(fill: (form: JobForm) => void, current: () => Result<JobForm>): void {
  const toast = useToast();
  const waiting = useStore(dropped);
  useEffect(() => {
    if (waiting === null) return;
    dropped.set(null);
    const { path, isFolder, file, others } = waiting;
    if (isFolder || !/\.ya?ml$/i.test(path)) {
      const now = current();
      if (now.ok) fill(formForPath(path, isFolder, now.value));
      toast(
        now.ok
          ? { tone: 'info', text: words.dropped(path, others) }
          : { tone: 'error', text: words.droppedOnBroken(path, now.refusal.message) },
      );
      return;
    }
    file.text().then(
      (text) => {
        const read = yamlToRequest(text, { draft: true });
        if (read.ok) fill(requestToForm(read.value));
        toast(
          read.ok
            ? { tone: 'info', text: words.dropped(path, others) }
            : { tone: 'error', text: `${path}: ${read.refusal.message}` },
        );
      },
      (error: unknown) => {
        toast({ tone: 'error', text: `${path}: ${asRefusal(error).message}` });
      },
    );
  });
}
