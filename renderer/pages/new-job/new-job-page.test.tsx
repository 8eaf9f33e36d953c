// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { parseJobRequest } from '../../../core/contract/job-request.js';
import { currentRoute } from '../../app/router.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost, type FakeHostOptions } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { dropped } from '../../state/dropped.js';
import { NewJobPage } from './new-job-page.js';

beforeEach(() => {
  sessionStorage.clear();
});

function show(
  options: FakeHostOptions & { readonly host?: FakeHost } = { jobs: [] },
  from: string | null = null,
) {
  return renderInWindow(<NewJobPage from={from} mode={null} />, options);
}

const type = (label: string, text: string) => {
  const field = screen.getByLabelText(label);
  fireEvent.change(field, { target: { value: text } });
  fireEvent.blur(field);
};
const valueOf = (label: string) => {
  const field = screen.getByLabelText(label);
  return field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.value : null;
};
const submit = () => {
  fireEvent.keyDown(document.body, { key: 'Enter', ctrlKey: true });
};

describe('New job', () => {
  it('submits from anywhere by Ctrl+Enter and opens the job', async () => {
    const { host } = show();
    type('Command', 'python train.py --lr 1e-4');
    type('Working folder', '/home/anna/work');
    type('GPUs', '1');
    type('Memory', '8G');
    submit();
    await waitFor(() => {
      expect(currentRoute().page).toBe('job');
    });
    expect(host.callsOf('job.submit').map((call) => call.request)).toEqual([
      {
        command: ['python', 'train.py', '--lr', '1e-4'],
        workingDirectory: '/home/anna/work',
        gpu: 1,
        memory: '8G',
      },
    ]);
    expect(sessionStorage.length).toBe(0);
  });

  it('shows errors beside their fields, naming the value and what would be right, and submits nothing', async () => {
    const { host } = show();
    expect(screen.queryByText(/expected/)).toBe(null);
    type('Memory', '8X');
    expect(screen.getByLabelText('Memory').getAttribute('aria-invalid')).toBe('true');
    type('Working folder', 'work');
    submit();
    await waitFor(() => {
      expect(screen.getByLabelText('Command').getAttribute('aria-invalid')).toBe('true');
    });
    expect(screen.getAllByText(/Expected a program and its arguments/).length).toBeGreaterThan(0);
    expect(screen.getAllByText(/work: expected an absolute path/).length).toBeGreaterThan(0);
    expect(screen.getAllByText(/8X: expected a size such as 512M/).length).toBeGreaterThan(0);
    expect(host.callsOf('job.submit')).toEqual([]);
    type('Memory', '8G');
    expect(screen.getByLabelText('Memory').getAttribute('aria-invalid')).not.toBe('true');
  });

  it('puts the flags of a pasted command line into the fields', () => {
    show();
    type(
      'Command',
      'iris --cluster=marin job run --gpu H100x2 -e SEED 3 --max-retries 2 --region eu -- python train.py "a b"',
    );
    expect(valueOf('Command')).toBe("python train.py 'a b'");
    expect([valueOf('GPUs'), valueOf('Name of variable 1'), valueOf('Value of variable 1')]).toEqual([
      'H100x2',
      'SEED',
      '3',
    ]);
    expect([valueOf('Retries after a failure'), valueOf('Constraint 1')]).toEqual(['2', 'region=eu']);
    expect(screen.getByText('--cluster=marin is not used: the job is submitted here.')).toBeTruthy();
  });

  it.each([
    [['irisctl', 'job', 'run', '--gpu', '1', '--no-wait', '--', 'python', 'child.py']],
    [['SEED=3', 'python', 'train.py']],
  ])('leaves the command of a job as it was, though it reads like something else: %j', async (command) => {
    const host = new FakeHost({ jobs: [fakeSummary({ id: '/anna/launcher' })] });
    const spec = parseJobRequest({ command, workingDirectory: '/w' });
    if (spec.ok) host.specs.set('/anna/launcher', spec.value);
    show({ host }, '/anna/launcher');
    fireEvent.blur(await screen.findByLabelText('Command'));
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    fireEvent.click(screen.getByRole('radio', { name: 'Form' }));
    submit();
    await waitFor(() => {
      expect(host.callsOf('job.submit').map(({ request }) => request.command)).toEqual([command]);
    });
    expect(host.callsOf('job.submit')[0]?.request).not.toHaveProperty('environment');
  });

  it('puts the flags of a command into the fields where that is asked for', async () => {
    const host = new FakeHost({ jobs: [fakeSummary({ id: '/anna/launcher' })] });
    const spec = parseJobRequest({
      command: ['irisctl', 'job', 'run', '--gpu', '1', '--', 'python', 'child.py'],
      workingDirectory: '/w',
    });
    if (spec.ok) host.specs.set('/anna/launcher', spec.value);
    show({ host }, '/anna/launcher');
    fireEvent.click(await screen.findByRole('button', { name: 'Put them into the fields' }));
    expect([valueOf('Command'), valueOf('GPUs')]).toEqual(['python child.py', '1']);
    expect(screen.queryByRole('button', { name: 'Put them into the fields' })).toBe(null);
  });

  it('goes to YAML and back without loss, and does not leave broken YAML', async () => {
    show();
    type('Command', 'python train.py 1e-4');
    type('Working folder', '/w');
    type('CPU cores', '4');
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    const text = valueOf('The job as YAML') ?? '';
    expect(text).toBe('command:\n  - python\n  - train.py\n  - "1e-4"\nworkingDirectory: /w\ncpu: 4\n');
    const area = screen.getByLabelText('The job as YAML');
    fireEvent.change(area, { target: { value: `${text}memroy: 8G\n` } });
    fireEvent.click(screen.getByRole('radio', { name: 'Form' }));
    await screen.findByText(
      /Line 7: memroy: 8G is not valid; expected a field of a job \(did you mean memory\?\)/,
    );
    fireEvent.change(area, { target: { value: `${text}memory: 8G\nports: [http]\n` } });
    fireEvent.click(screen.getByRole('radio', { name: 'Form' }));
    expect([valueOf('Command'), valueOf('CPU cores'), valueOf('Memory')]).toEqual([
      'python train.py 1e-4',
      '4',
      '8G',
    ]);
    expect(screen.getByText(/Also set: ports/)).toBeTruthy();
  });

  it("shows the controller's refusal at its field until the field changes", async () => {
    const { host } = show();
    host.refuseNext(
      'job.submit',
      refusal('INFEASIBLE', 'No machine has 64 GPUs.', [
        { field: 'gpu', value: '64', expected: 'at most 4' },
      ]),
    );
    type('Command', 'true');
    type('Working folder', '/w');
    type('GPUs', '64');
    submit();
    await screen.findByText('Not submitted. No machine has 64 GPUs.');
    expect(screen.getByText('64: expected at most 4.')).toBeTruthy();
    type('GPUs', '4');
    expect(screen.queryByText('64: expected at most 4.')).toBe(null);
  });

  it('says when it would start and shows the equivalent command', async () => {
    show();
    type('Command', "echo 'a b'");
    type('Working folder', '/w');
    await screen.findByText('Starts now on ws-1.');
    expect(screen.getByText("irisctl job run --working-directory /w -- echo 'a b'")).toBeTruthy();
    type('GPUs', '99');
    await screen.findByText('Can never run');
  });

  it('asks again when the controller is back, and when the form is looked at again', async () => {
    const { host } = show();
    host.refuseNext('job.check', refusal('STORAGE_FAILED', 'The database could not be read.'));
    type('Command', 'true');
    type('Working folder', '/w');
    await screen.findByText('The database could not be read.');
    host.disconnect();
    await screen.findByText('Starts now on ws-1.');
    const before = host.callsOf('job.check').length;
    document.dispatchEvent(new Event('visibilitychange'));
    await waitFor(() => {
      expect(host.callsOf('job.check').length).toBe(before + 1);
    });
  });

  it('says of the command line what it cannot carry', async () => {
    show();
    type('Command', 'true');
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    fireEvent.change(screen.getByLabelText('The job as YAML'), {
      target: { value: 'command: ["true"]\nworkingDirectory: /w\nstopSignal: SIGUSR1\n' },
    });
    await screen.findByText('A command line cannot carry stopSignal; the YAML does.');
  });

  it('shows what is wrong beside its row, however many rows were left empty before it', async () => {
    const { host } = show();
    host.refuseNext(
      'job.submit',
      refusal('INFEASIBLE', 'No machine has it.', [
        { field: 'constraints.0.values', value: '64', expected: 'at most 8' },
      ]),
    );
    type('Command', 'true');
    type('Working folder', '/w');
    fireEvent.click(screen.getByRole('button', { name: 'Add constraint' }));
    fireEvent.click(screen.getByRole('button', { name: 'Add constraint' }));
    type('Constraint 2', 'a=');
    const invalid = (row: number) => screen.getByLabelText(`Constraint ${row}`).getAttribute('aria-invalid');
    expect([invalid(1), invalid(2)]).toEqual([null, 'true']);
    type('Constraint 2', 'nvlinks>=64');
    submit();
    await screen.findByText('64: expected at most 8.');
    expect([invalid(1), invalid(2)]).toEqual([null, 'true']);
  });

  it('does not choose between two values of one variable', () => {
    const { host } = show();
    type('Command', 'true');
    type('Working folder', '/w');
    fireEvent.click(screen.getByRole('button', { name: 'Add variable' }));
    fireEvent.click(screen.getByRole('button', { name: 'Add variable' }));
    type('Name of variable 1', 'SEED');
    type('Value of variable 1', '1');
    type('Name of variable 2', 'SEED');
    type('Value of variable 2', '2');
    submit();
    expect(screen.getAllByText(/SEED: expected each name once/).length).toBeGreaterThan(0);
    expect(host.callsOf('job.submit')).toEqual([]);
  });

  it('says that a dropped file could not be read', async () => {
    show();
    const file = new File([''], 'job.yaml');
    vi.spyOn(file, 'text').mockRejectedValue(new Error('NotReadableError: the file is gone'));
    act(() => {
      dropped.set({ path: '/home/anna/job.yaml', isFolder: false, file, others: 0 });
    });
    await screen.findByText('/home/anna/job.yaml: NotReadableError: the file is gone');
  });

  it('offers the shell for what only a shell would act on', () => {
    show();
    type('Command', 'cat *.txt | wc -l');
    fireEvent.click(screen.getByRole('button', { name: 'Run it through sh' }));
    expect(valueOf('Command')).toBe("sh -c 'cat *.txt | wc -l'");
  });

  it('keeps a draft, and fills from a job', async () => {
    const first = show();
    type('Command', 'python draft.py');
    await waitFor(() => {
      expect(sessionStorage.getItem('iris.new-job.draft')).toContain('draft.py');
    });
    first.view.unmount();
    const second = show();
    expect(valueOf('Command')).toBe('python draft.py');
    second.view.unmount();
    show({ jobs: 3 }, '/anna/train-llm');
    await screen.findByText('New job from train-llm');
    expect(valueOf('Command')).toBe('python train.py --config configs/llm-1b.yaml --seed 3');
    expect([valueOf('GPUs'), valueOf('Memory'), valueOf('Name')]).toEqual(['4', '8GiB', 'train-llm']);
  });

  it('keeps what was changed of a job, and gives the job as it was submitted when asked to', async () => {
    const first = show({ jobs: 3 }, '/anna/train-llm');
    await screen.findByText('New job from train-llm');
    expect(screen.queryByText('Your changes from before, not submitted yet.')).toBe(null);
    type('Memory', '16GiB');
    first.view.unmount();
    const second = show({ jobs: 3 }, '/anna/train-llm');
    await screen.findByText('Your changes from before, not submitted yet.');
    expect([valueOf('GPUs'), valueOf('Memory')]).toEqual(['4', '16GiB']);
    fireEvent.click(screen.getByRole('button', { name: 'Start from the job again' }));
    expect([valueOf('GPUs'), valueOf('Memory')]).toEqual(['4', '8GiB']);
    expect(screen.queryByText('Your changes from before, not submitted yet.')).toBe(null);
    second.view.unmount();
    show({ jobs: 3 });
    expect(valueOf('Command')).toBe('');
  });

  it('keeps YAML as it was written, broken or not', () => {
    const first = show();
    type('Command', 'true');
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    const broken = 'command: [python, train.py\n# lr to be found';
    fireEvent.change(screen.getByLabelText('The job as YAML'), { target: { value: broken } });
    first.view.unmount();
    show();
    expect(valueOf('The job as YAML')).toBe(broken);
  });

  it('goes on without a draft where the store has no room for it', () => {
    const setItem = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    });
    try {
      show();
      type('Command', 'python train.py');
      expect(valueOf('Command')).toBe('python train.py');
      expect(setItem).toHaveBeenCalled();
    } finally {
      setItem.mockRestore();
    }
  });

  it('says that the same may be submitted again where no answer came', async () => {
    const { host } = show();
    host.refuseNext('job.submit', refusal('DISCONNECTED', 'No answer.'));
    type('Command', 'true');
    type('Working folder', '/w');
    submit();
    await screen.findByText(/Submit again when it is back: that makes no second job/);
    submit();
    await waitFor(() => {
      expect(currentRoute().page).toBe('job');
    });
    const ids = host.callsOf('job.submit').map((call) => call.requestId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('greys out a band there is no right to, and says beside the field what is refused', async () => {
    const host = new FakeHost({ jobs: [fakeSummary({ id: '/anna/train' })] });
    const spec = parseJobRequest({ command: ['true'], workingDirectory: '/', priority: 'production' });
    if (spec.ok) host.specs.set('/anna/train', spec.value);
    show({ host }, '/anna/train');
    const field = await screen.findByRole('combobox', { name: 'Priority band' });
    await screen.findByText('production: expected another, unless allowed with: irisctl budget set.');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    // The form is complete; what would come of it is said, with the whole sentence under it.
    const panel = within(screen.getByRole('complementary', { name: 'Check' }));
    expect(panel.getByRole('heading', { name: 'Would be refused' })).toBeTruthy();
    expect(panel.getByText('anna may not submit to PRODUCTION.')).toBeTruthy();
    fireEvent.click(field);
    const closed = await screen.findByRole('option', {
      name: 'Production (needs a right you do not have)',
      hidden: true,
    });
    expect(closed.getAttribute('data-combobox-disabled')).toBe('true');
    const batch = screen.getByRole('option', { name: 'Batch: when nothing else waits', hidden: true });
    fireEvent.click(batch);
    await waitFor(() => {
      expect(field.getAttribute('aria-invalid')).not.toBe('true');
    });
  });

  it('has no accessibility violation', async () => {
    const { view } = show({ jobs: 3 });
    type('Working folder', 'work');
    expect(await findViolations(view.container)).toEqual([]);
  });
});
