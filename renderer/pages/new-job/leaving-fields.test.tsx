// @vitest-environment jsdom
/** What is said, and what moves, when a field of the form is left. */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { NewJobPage } from './new-job-page.js';

beforeEach(() => {
  sessionStorage.clear();
});

const show = () => renderInWindow(<NewJobPage from={null} mode={null} />, { jobs: [] });
const write = (label: string, text: string) => {
  const field = screen.getByLabelText(label);
  fireEvent.focus(field);
  fireEvent.change(field, { target: { value: text } });
  return field;
};
const missing = '/missing/project: expected a folder that exists on ws-1 and may be entered.';

describe('a working folder that does not exist', () => {
  it('is told of beside the field once that is left, until it is another, and stops nobody', async () => {
    const { host } = show();
    fireEvent.blur(write('Command', 'python train.py'));
    const folder = write('Working folder', '/missing/project');
    await screen.findByText('Starts now');
    expect(screen.queryByText(missing)).toBe(null);
    fireEvent.blur(folder);
    await screen.findByText(missing);
    expect(folder.getAttribute('aria-invalid')).toBe('true');
    write('Working folder', '/missing/projects');
    expect(screen.queryByText(missing)).toBe(null);
    fireEvent.keyDown(document.body, { key: 'Enter', ctrlKey: true });
    await waitFor(() => {
      expect(host.calls.map(({ method }) => method)).toContain('job.submit');
    });
  });

  it('is told of beside the text where the job is written as YAML', async () => {
    show();
    fireEvent.blur(write('Command', 'python train.py'));
    fireEvent.blur(write('Working folder', '/missing/project'));
    fireEvent.click(screen.getByRole('radio', { name: 'YAML' }));
    await screen.findByText(missing);
  });
});

describe('a press of the pointer outside of a field that was being written', () => {
  const line = 'A=1 python train.py';
  const isOpen = (name: string) => screen.getByText(name).closest('details')?.open;

  it('finds the form as it was until it has become a click', async () => {
    show();
    const command = write('Command', line);
    const other = screen.getByText('Retries and limits');
    fireEvent.pointerDown(other);
    fireEvent.blur(command);
    expect(isOpen('Environment')).toBe(false);
    expect(screen.getByLabelText('Command')).toHaveProperty('value', line);
    fireEvent.pointerUp(other);
    fireEvent.click(other);
    expect(isOpen('Environment')).toBe(false);
    await waitFor(() => {
      expect(isOpen('Environment')).toBe(true);
    });
    expect(screen.getByLabelText('Command')).toHaveProperty('value', 'python train.py');
  });

  it('on Submit leaves what that says is wrong, though the command is read only then', async () => {
    show();
    const command = write('Command', line);
    const submit = screen.getByRole('button', { name: /^Submit/ });
    fireEvent.pointerDown(submit);
    fireEvent.blur(command);
    fireEvent.pointerUp(submit);
    fireEvent.click(submit);
    const isWrong = () => screen.getByLabelText('Working folder').getAttribute('aria-invalid') === 'true';
    expect(isWrong()).toBe(true);
    await waitFor(() => {
      expect(screen.getByLabelText('Command')).toHaveProperty('value', 'python train.py');
    });
    expect(isWrong()).toBe(true);
  });

  it('finds no error below a field before that, and none in a form that it cleared', async () => {
    show();
    const folder = write('Working folder', 'relative');
    const gpus = screen.getByLabelText('GPUs');
    fireEvent.pointerDown(gpus);
    fireEvent.blur(folder);
    expect(folder.getAttribute('aria-invalid')).not.toBe('true');
    fireEvent.pointerUp(gpus);
    await waitFor(() => {
      expect(folder.getAttribute('aria-invalid')).toBe('true');
    });
    const command = write('Command', '"open');
    const clear = screen.getByRole('button', { name: 'Clear' });
    fireEvent.pointerDown(clear);
    fireEvent.blur(command);
    fireEvent.pointerUp(clear);
    fireEvent.click(clear);
    await new Promise((resolve) => setTimeout(resolve));
    expect(screen.getByLabelText('Command').getAttribute('aria-invalid')).not.toBe('true');
  });
});
