// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { parseJobRequest, type JobRequest } from '../../../core/contract/job-request.js';
import { specToRequest } from '../../../core/contract/job-yaml.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import {
  emptyForm,
  formErrors,
  formFieldOf,
  formToRequest,
  readDraft,
  requestToForm,
  type JobForm,
} from './form-model.js';
import { NewJobPage } from './new-job-page.js';

const scheduled: JobForm = {
  ...emptyForm,
  command: 'python train.py',
  workingDirectory: '/w',
  startNotBefore: '2h',
  finishBy: '2026-12-01T08:00Z',
  maxActive: '2',
  held: true,
  dependencies: [
    { job: '', on: 'SUCCESS' },
    { job: ' /anna/prep ', on: 'END' },
  ],
};

const request: JobRequest = {
  command: ['python', 'train.py'],
  workingDirectory: '/w',
  startNotBefore: '2h',
  finishBy: '2026-12-01T08:00Z',
  maxActive: 2,
  held: true,
  dependencies: [{ job: '/anna/prep', on: 'END' }],
};

describe('when a job may start', () => {
  it('goes into the request without the rows left empty', () => {
    expect(formToRequest(scheduled)).toEqual({ ok: true, value: request });
  });

  it('comes back from a request, and from what a job was submitted with', () => {
    expect(formToRequest(requestToForm(request))).toEqual({ ok: true, value: request });
    const spec = parseJobRequest(request);
    if (!spec.ok) throw new Error(spec.refusal.message);
    const again = formToRequest(requestToForm(specToRequest(spec.value)));
    expect(again.ok && parseJobRequest(again.value)).toEqual(spec);
  });

  it('is kept in a draft', () => {
    expect(readDraft(JSON.stringify(scheduled))).toEqual(scheduled);
  });

  it('finds the row of a wrong dependency among rows left empty', () => {
    expect(formFieldOf('dependencies.0.job', scheduled)).toBe('dependencies.1.job');
    expect(
      formErrors({ ...scheduled, startNotBefore: 'noon', maxActive: '0' }).map((field) => field.field),
    ).toEqual(expect.arrayContaining(['startNotBefore', 'maxActive']));
  });

  it('is filled in, judged beside its field and submitted', async () => {
    const { host } = renderInWindow(<NewJobPage from={null} mode={null} />);
    const type = (label: string, value: string) => {
      const field = screen.getByLabelText(label);
      fireEvent.change(field, { target: { value } });
      fireEvent.blur(field);
    };
    type('Command', 'true');
    type('Working folder', '/w');
    type('Must end by', 'noon');
    expect(screen.getByLabelText('Must end by').getAttribute('aria-invalid')).toBe('true');
    expect(screen.getAllByText(/^noon: expected a time with its zone/).length).toBeGreaterThan(0);
    type('Must end by', '9h');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Hold it until I release it' }));
    fireEvent.click(screen.getByRole('button', { name: 'Add a job to wait for' }));
    type('Job 1 to wait for', 'prep');
    fireEvent.click(screen.getByRole('button', { name: /^Submit/ }));
    await waitFor(() => {
      expect(host.callsOf('job.submit').map((call) => call.request)).toEqual([
        {
          command: ['true'],
          workingDirectory: '/w',
          finishBy: '9h',
          held: true,
          dependencies: [{ job: 'prep', on: 'SUCCESS' }],
        },
      ]);
    });
  });
});
