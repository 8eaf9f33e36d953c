// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { fieldLabel } from './field-labels.js';
import { emptyForm, spreadCommand, type JobForm } from './form-model.js';
import { NewJobPage } from './new-job-page.js';

const typed = (command: string): JobForm => ({ ...emptyForm, command });

describe('a line that was pasted as the command', () => {
  it.each([
    ['A=1 nohup python train.py > log.txt 2>&1 &', 'nohup python train.py > log.txt 2>&1 &'],
    ['A=1 irisctl job run -- python train.py \\\n  | tee log', 'python train.py \\\n  | tee log'],
    // Nothing for a shell: in the words it was read as.
    ['A=1 python train.py \\\n  --name "x y"', "python train.py --name 'x y'"],
  ])('of %j leaves to a shell what a shell acts on', (line, command) => {
    expect(spreadCommand(typed(line))).toEqual({
      ...emptyForm,
      command,
      environment: line.startsWith('A=1 irisctl') ? [] : [{ name: 'A', value: '1' }],
    });
  });

  it('keeps variables a shell would fill in where it is offered to run them', () => {
    expect(spreadCommand(typed('OUT=$HOME/x python train.py'))).toBe(null);
  });

  it('is run through a shell in one click, with its variables in their fields', () => {
    renderInWindow(<NewJobPage from={null} mode={null} />);
    const command = screen.getByRole('textbox', { name: 'Command' });
    fireEvent.change(command, { target: { value: 'WANDB_MODE=offline python train.py | tee log' } });
    fireEvent.blur(command);
    fireEvent.click(screen.getByRole('button', { name: 'Run it through sh' }));
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Command' }).value).toBe(
      "sh -c 'python train.py | tee log'",
    );
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Value of variable 1' }).value).toBe(
      'offline',
    );
  });
});

describe('the check beside the form', () => {
  it('calls each wrong field as the form does, in its row', () => {
    const form: JobForm = {
      ...emptyForm,
      environment: [
        { name: 'OK', value: '1' },
        { name: 'BAD', value: '2' },
      ],
      mounts: [
        { source: '', target: '', readOnly: false },
        { source: '/a', target: 'b', readOnly: false },
      ],
      dependencies: [
        { job: '', on: 'SUCCESS' },
        { job: '//', on: 'END' },
      ],
      constraints: [{ text: 'x', preferred: false }],
      setup: ['', 'x'],
    };
    expect(
      [
        'finishBy',
        'startNotBefore',
        'maxActive',
        'shm',
        'pidsLimit',
        'environment.BAD',
        'mounts.0.target',
        'dependencies.0.job',
        'constraints.0.values',
        'setup.0',
        'gangBy',
      ].map((field) => fieldLabel(field, form)),
    ).toEqual([
      'Must end by',
      'Start no earlier than',
      'Tasks at once',
      'Shared memory',
      'Processes at most',
      'Value of variable 2',
      'Place of folder 2 in the container',
      'Job 2 to wait for',
      'Constraint 1',
      'Setup script 2',
      'gangBy',
    ]);
  });

  it('shows the label beside what is expected', async () => {
    renderInWindow(<NewJobPage from={null} mode={null} />);
    fireEvent.change(screen.getByRole('textbox', { name: 'Command' }), { target: { value: 'true' } });
    fireEvent.change(screen.getByRole('textbox', { name: 'Working folder' }), { target: { value: '/w' } });
    fireEvent.change(screen.getByLabelText('Must end by'), { target: { value: 'soon' } });
    const panel = await screen.findByRole('complementary', { name: 'Check' });
    expect(panel.textContent).toContain('Must end by soon: expected a time');
    expect(panel.textContent).not.toContain('finishBy');
  });
});
