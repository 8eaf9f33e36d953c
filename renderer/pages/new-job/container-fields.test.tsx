// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeImages } from '../../../test/harness/fake-lab.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import type { JobRequest } from '../../../core/contract/job-request.js';
import { emptyForm, formErrors, formFieldOf, formToRequest, requestToForm } from './form-model.js';
import { NewJobPage } from './new-job-page.js';
import { formForPath } from './use-drop.js';

const inContainer: JobRequest = {
  command: ['python3', 'train.py'],
  workingDirectory: '/work/x',
  machine: 'ws-2',
  gpu: 1,
  shareGpu: true,
  gpuMemory: '8GB',
  image: 'pytorch/pytorch:2.9',
  pull: 'ALWAYS',
  containerProfile: 'RESTRICTED',
  shm: '8GiB',
  pidsLimit: 500,
  tty: true,
  mounts: [{ source: '/data', target: '/data', readOnly: true }],
  setup: ['pip install -r requirements.txt'],
};

describe('the container of a new job', () => {
  it('comes back from the form as it went in, and nothing of it is said when nothing is set', () => {
    const form = requestToForm(inContainer);
    expect(form.rest).toEqual({});
    expect(formToRequest(form)).toEqual({ ok: true, value: inContainer });
    const plain = formToRequest({ ...emptyForm, command: 'true', workingDirectory: '/' });
    expect(plain).toEqual({ ok: true, value: { command: ['true'], workingDirectory: '/' } });
  });

  it('names the row a wrong mount or script stands in, whatever rows are empty', () => {
    const form = {
      ...requestToForm(inContainer),
      mounts: [
        { source: '', target: '', readOnly: false },
        { source: 'relative', target: '/x', readOnly: false },
      ],
      setup: ['', 'true'],
    };
    const fields = formErrors(form).map(({ field }) => formFieldOf(field, form));
    expect(fields).toEqual(['mounts.1.source']);
    expect(formFieldOf('setup.0', form)).toBe('setup.1');
  });

  it('offers the images there are once the field is entered, and sends what is filled in', async () => {
    sessionStorage.clear();
    const host = new FakeHost();
    Object.assign(host.lab, fakeImages(host.nowMs));
    renderInWindow(<NewJobPage from={null} mode={null} />, { host });
    const image = await screen.findByRole('combobox', { name: 'Image', hidden: true });
    expect(host.callsOf('image.list')).toEqual([]);
    fireEvent.focus(image);
    fireEvent.click(image);
    fireEvent.click(await screen.findByRole('option', { name: 'python:3.12-slim', hidden: true }));
    fireEvent.click(screen.getByRole('button', { name: 'Mount a folder', hidden: true }));
    const type = (name: string, value: string) => {
      fireEvent.change(screen.getByRole('textbox', { name, hidden: true }), { target: { value } });
    };
    type('Folder 1 on the machine', '/data');
    type('Place of folder 1 in the container', '/in');
    type('Command', 'python3 -V');
    type('Working folder', '/tmp');
    fireEvent.click(screen.getByRole('button', { name: /^Submit/ }));
    await screen.findByRole('button', { name: /^Submit/ });
    expect(host.callsOf('job.submit')[0]?.request).toEqual({
      command: ['python3', '-V'],
      workingDirectory: '/tmp',
      image: 'python:3.12-slim',
      mounts: [{ source: '/data', target: '/in' }],
    });
  });

  it('asks for the memory of a GPU that may be shared, and says when it is missing', async () => {
    sessionStorage.clear();
    const host = new FakeHost();
    renderInWindow(<NewJobPage from={null} mode={null} />, { host });
    const share = await screen.findByRole('checkbox', { name: 'Its GPUs may be shared', hidden: true });
    expect(screen.queryByRole('textbox', { name: 'GPU memory', hidden: true })).toBeNull();
    const type = (name: string, value: string) => {
      fireEvent.change(screen.getByRole('textbox', { name, hidden: true }), { target: { value } });
    };
    type('Command', 'python3 train.py');
    type('Working folder', '/tmp');
    fireEvent.click(share);
    await screen.findByText('Ask for at least one GPU above.');
    type('GPUs', '1');
    expect(screen.queryByText('Ask for at least one GPU above.')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: /^Submit/ }));
    // Beside the field and in the panel.
    const missing = await screen.findAllByText(/memory a task uses of each GPU it shares/);
    expect(missing.length).toBeGreaterThan(0);
    expect(host.callsOf('job.submit')).toEqual([]);
    type('GPU memory', '8GB');
    fireEvent.click(screen.getByRole('button', { name: /^Submit/ }));
    await screen.findByRole('button', { name: /^Submit/ });
    expect(host.callsOf('job.submit')[0]?.request).toEqual({
      command: ['python3', 'train.py'],
      workingDirectory: '/tmp',
      gpu: 1,
      shareGpu: true,
      gpuMemory: '8GB',
    });
  });

  it('is a script’s command in its folder when one is dropped; a folder is the working folder', () => {
    expect(formForPath('/a/train.py', false, emptyForm)).toMatchObject({
      command: 'python3 train.py',
      workingDirectory: '/a',
    });
    expect(formForPath('/a/run.sh', false, emptyForm)).toMatchObject({ command: 'sh run.sh' });
    expect(formForPath('/a/simulate', false, emptyForm)).toMatchObject({ command: './simulate' });
    expect(formForPath('/a/b.v2', true, emptyForm)).toMatchObject({
      command: '',
      workingDirectory: '/a/b.v2',
    });
  });
});
