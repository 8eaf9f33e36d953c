// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import type { FakeHostOptions } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { AppProviders } from '../../app/app.js';
import { currentRoute, navigate, overviewRoute } from '../../app/router.js';
import { dropped } from '../../state/dropped.js';
import { NewJobPage } from './new-job-page.js';

beforeEach(() => {
  sessionStorage.clear();
});

function show(options: FakeHostOptions = { jobs: [] }) {
  const shown = renderInWindow(<NewJobPage from={null} mode={null} />, options);
  const put = (form: boolean) => {
    shown.view.rerender(
      <AppProviders desktop={shown.desktop}>
        {form ? <NewJobPage from={null} mode={null} /> : <p>Overview</p>}
      </AppProviders>,
    );
  };
  return {
    ...shown,
    leave() {
      act(() => {
        navigate(overviewRoute);
      });
      put(false);
    },
    comeBack: () => {
      put(true);
    },
  };
}

const type = (label: string, text: string) => {
  const field = screen.getByLabelText(label);
  fireEvent.change(field, { target: { value: text } });
  fireEvent.blur(field);
};
const valueOf = (label: string) => screen.getByLabelText<HTMLTextAreaElement>(label).value;
const write = (command = 'python train.py') => {
  type('Command', command);
  type('Working folder', '/w');
};
const submit = () => {
  fireEvent.keyDown(document.body, { key: 'Enter', ctrlKey: true });
};
const drop = (path: string, isFolder: boolean, others = 0) => {
  act(() => {
    dropped.set({ path, isFolder, file: new File([''], 'x'), others });
  });
};

describe('an answer that comes after the form was left', () => {
  it('is told where the user is by then, who stays there', async () => {
    const { host, leave } = show();
    write();
    host.hold();
    submit();
    leave();
    host.release();
    await screen.findByText(/ was submitted\.$/);
    expect(currentRoute().page).toBe('overview');
    expect(sessionStorage.length).toBe(0);
    fireEvent.click(screen.getByRole('button', { name: 'Show' }));
    await waitFor(() => {
      expect(currentRoute().page).toBe('job');
    });
  });

  it('is told when it is a refusal, with the way back to what was written', async () => {
    const { host, leave, comeBack } = show();
    write();
    host.hold();
    host.refuseNext('job.submit', refusal('PERMISSION_DENIED', 'No more jobs today.'));
    submit();
    leave();
    host.release();
    await screen.findByText('Not submitted. No more jobs today.');
    fireEvent.click(screen.getByRole('button', { name: 'Open the form' }));
    await waitFor(() => {
      expect(currentRoute().page).toBe('new');
    });
    comeBack();
    expect(valueOf('Command')).toBe('python train.py');
  });

  it('keeps what was written in the form since', async () => {
    const { host, leave, comeBack } = show();
    write();
    host.hold();
    submit();
    leave();
    comeBack();
    type('Command', 'python other.py');
    leave();
    host.release();
    await screen.findByText(/ was submitted\.$/);
    comeBack();
    expect(valueOf('Command')).toBe('python other.py');
  });

  it('makes no second job of one that had no answer, when it is sent again from the form come back to', async () => {
    const { host, leave, comeBack } = show();
    host.refuseNext('job.submit', refusal('DISCONNECTED', 'No answer.'));
    write();
    submit();
    await screen.findByText(/Submit again when it is back: that makes no second job/);
    leave();
    comeBack();
    submit();
    await waitFor(() => {
      expect(currentRoute().page).toBe('job');
    });
    const ids = host.callsOf('job.submit').map((call) => call.requestId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('makes no second job of it when another was submitted in between', async () => {
    const { host, leave, comeBack } = show();
    host.refuseNext('job.submit', refusal('DISCONNECTED', 'No answer.'));
    write();
    submit();
    await screen.findByText(/Submit again when it is back: that makes no second job/);
    for (const command of ['python other.py', 'python train.py', 'python train.py']) {
      leave();
      comeBack();
      write(command);
      submit();
      await waitFor(() => {
        expect(currentRoute().page).toBe('job');
      });
    }
    const [first, other, again, anew] = host.callsOf('job.submit').map((call) => call.requestId);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    // That one has its answer: the same written once more is another job.
    expect(anew).not.toBe(first);
  });
});

describe('what takes the place of what was written', () => {
  it('puts a dropped folder into the YAML as it is written, not into the form of before', async () => {
    show();
    write();
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    fireEvent.change(screen.getByLabelText('The job as YAML'), {
      target: { value: 'command: [python, other.py]\nworkingDirectory: /w\nmemory: 8G\n' },
    });
    drop('/home/anna/work', true);
    await screen.findByText('Filled in from /home/anna/work.');
    expect(valueOf('Command')).toBe('python other.py');
    expect([valueOf('Working folder'), valueOf('Memory')]).toEqual(['/home/anna/work', '8G']);
  });

  it('says how many of several dropped at once it has left out', async () => {
    show();
    drop('/home/anna/train.py', false, 1);
    await screen.findByText(
      'Filled in from /home/anna/train.py. The form takes one: the other was left out.',
    );
    drop('/home/anna/eval.py', false, 3);
    await screen.findByText('Filled in from /home/anna/eval.py. The form takes one: 3 others were left out.');
    expect(valueOf('Command')).toBe('python3 eval.py');
  });

  it('leaves YAML that cannot be read as it is', async () => {
    show();
    write();
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    const broken = 'command: [python, train.py\n# lr to be found';
    fireEvent.change(screen.getByLabelText('The job as YAML'), { target: { value: broken } });
    drop('/home/anna/train.py', false);
    await screen.findByText(
      /^\/home\/anna\/train.py was not filled in, as the YAML in the form cannot be read\./,
    );
    expect(valueOf('The job as YAML')).toBe(broken);
  });

  it('gives back what Clear and a recent job replaced', async () => {
    show({ jobs: 3 });
    write('python long.py --with many --flags');
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    expect(valueOf('Command')).toBe('');
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(valueOf('Command')).toBe('python long.py --with many --flags');
    fireEvent.click(await screen.findByTitle(/^Fill the form as \/anna\/eval-mmlu was submitted/));
    await waitFor(() => {
      expect(valueOf('Command')).not.toBe('python long.py --with many --flags');
    });
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(valueOf('Command')).toBe('python long.py --with many --flags');
  });

  it('leads back past several that were put there in turn, by one way', async () => {
    show({ jobs: 3 });
    write('python long.py --with many --flags');
    const recent = await screen.findByTitle(/^Fill the form as \/anna\/eval-mmlu was submitted/);
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    fireEvent.click(recent);
    await waitFor(() => expect(valueOf('Command')).not.toBe(''));
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    expect(valueOf('Command')).toBe('');
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(valueOf('Command')).toBe('python long.py --with many --flags');
    expect(screen.queryByRole('button', { name: 'Undo' })).toBe(null);
  });

  it('says nothing where an empty form is cleared', () => {
    show();
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    expect(screen.queryByRole('button', { name: 'Undo' })).toBe(null);
  });
});

describe('the panel beside the form', () => {
  const panel = () => within(screen.getByRole('complementary', { name: 'Check' }));

  it('asks for the folder while the command is typed, and names it as a fault once it was left empty', () => {
    show();
    fireEvent.change(screen.getByLabelText('Command'), { target: { value: 'true' } });
    expect(panel().getByText('Choose a working folder to see when it would start.')).toBeTruthy();
    fireEvent.blur(screen.getByLabelText('Working folder'));
    expect(panel().getByRole('listitem').textContent).toBe('Working folder Expected an absolute path.');
  });
});
