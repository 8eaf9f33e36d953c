// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeCachesOf, fakeSizes, setCaches } from '../../../test/harness/fake-caches.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeImages, fakeLab } from '../../../test/harness/fake-lab.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { ImagesPage } from './images-page.js';

const gib = 1024 ** 3;

function lab(): FakeHost {
  const host = new FakeHost();
  host.machines = fakeLab(host.nowMs);
  Object.assign(host.lab, fakeImages(host.nowMs), {
    caches: [fakeCachesOf('ws-1'), fakeCachesOf('h100-1')],
    cacheSizes: { uv: 3 * gib, hf: 40 * gib },
  });
  return host;
}

const section = () => screen.findByRole('region', { name: 'Caches, ws-1' });
const rows = (within_: HTMLElement) =>
  within(within_)
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.textContent);

describe('Caches of a machine', () => {
  it('are measured on request alone, and then told with their sum and its time', async () => {
    const { host, view } = renderInWindow(<ImagesPage />, { host: lab() });
    const shown = await section();
    expect(shown.textContent).toContain('Not measured yet.');
    expect(within(shown).queryByRole('button', { name: /^Empty/ })).toBeNull();
    expect(host.callsOf('cache.measure')).toEqual([]);
    fireEvent.click(within(shown).getByRole('button', { name: 'Measure the caches on ws-1' }));
    const table = await within(shown).findByRole('table', { name: 'Caches, ws-1' });
    expect(rows(table)).toEqual([
      'uvPython packages, by uv/uv/cache3 GiB',
      'hfModels and data sets of Hugging Face/hf/cache40 GiB',
      'cargoCrates, by cargo/cargo0 B',
      'cacheWhat jobs keep there themselves/cache0 B',
    ]);
    expect(within(shown).getByRole('status').textContent).toContain('43 GiB, measured');
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('say that they are being measured, with what was found before, and why that failed', async () => {
    const { host, view } = renderInWindow(<ImagesPage />, { host: lab() });
    const shown = await section();
    setCaches(host, 'ws-1', { state: 'MEASURING' });
    await within(shown).findByText('Adding up what is there, for two minutes at most.');
    const button = within(shown).getByRole('button', { name: 'Measure the caches on ws-1' });
    expect([button.textContent, button.hasAttribute('disabled')]).toEqual(['Measuring', true]);
    const message = 'The caches on ws-1 were not measured within 120 s.';
    setCaches(host, 'ws-1', { state: 'FAILED', message });
    expect((await within(shown).findByRole('alert')).textContent).toBe(message);
    const known = { measuredAtMs: host.nowMs, caches: fakeSizes({ uv: gib }), message };
    setCaches(host, 'ws-1', known);
    await within(shown).findByRole('table');
    expect(within(shown).getByRole('alert').textContent).toBe(message);
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('are emptied after a question that says what is fetched anew; what runs there refuses it in place', async () => {
    const host = lab();
    setCaches(host, 'ws-1', {
      state: 'MEASURED',
      measuredAtMs: host.nowMs,
      caches: fakeSizes({ uv: 3 * gib, hf: 40 * gib }),
    });
    renderInWindow(<ImagesPage />, { host });
    const shown = await section();
    const why = '/anna/train/0 runs in a container on ws-1.';
    host.refuseNext('cache.empty', refusal('FAILED_PRECONDITION', why));
    fireEvent.click(within(shown).getByRole('button', { name: 'Empty hf' }));
    const question = await screen.findByRole('dialog', { name: 'Empty the cache hf on ws-1?' });
    expect(question.textContent).toContain(
      'About 40 GiB become free. Jobs that need it fetch anew: models and data sets of Hugging Face.',
    );
    fireEvent.click(within(question).getByRole('button', { name: 'Empty hf' }));
    expect((await within(shown).findByRole('alert')).textContent).toBe(`Not emptied. ${why}`);
    fireEvent.click(within(shown).getByRole('button', { name: 'Empty all caches on ws-1' }));
    const all = await screen.findByRole('dialog', { name: 'Empty the caches on ws-1?' });
    fireEvent.click(within(all).getByRole('button', { name: 'Empty caches' }));
    await within(shown).findByText('What was emptied is being removed.');
    expect(within(shown).queryByRole('alert')).toBeNull();
    // What has nothing in it is not asked for.
    expect(host.callsOf('cache.empty').at(-1)).toMatchObject({ machineId: 'ws-1', names: ['uv', 'hf'] });
    await waitFor(() => expect(within(shown).getByRole('status').textContent).toContain('0 B'));
    expect(within(shown).queryByRole('button', { name: /^Empty all/ })).toBeNull();
  });

  it('tell of each what stands against it, and of what could not be removed what to do', async () => {
    const host = lab();
    const note = 'It is a symbolic link: what it leads to is neither measured nor emptied from here.';
    const message =
      '2 MiB of what was emptied could not be removed: sudo rm -rf /home/anna/caches/.emptied-1';
    setCaches(host, 'ws-1', {
      state: 'MEASURED',
      measuredAtMs: host.nowMs,
      caches: fakeSizes({ uv: gib }).map((one) => (one.name === 'hf' ? { ...one, bytes: null, note } : one)),
      left: { bytes: 2 * 1024 ** 2, message },
    });
    renderInWindow(<ImagesPage />, { host });
    const shown = await section();
    await within(shown).findByText(message);
    expect(within(shown).getByText(note)).toBeTruthy();
    expect(within(shown).getByRole('button', { name: 'Empty hf' }).hasAttribute('disabled')).toBe(true);
    expect(within(shown).getByRole('button', { name: 'Empty uv' }).hasAttribute('disabled')).toBe(false);
  });

  it('are there where no image is, and make way for a search', async () => {
    const host = lab();
    const { view } = renderInWindow(<ImagesPage />, { host });
    await section();
    fireEvent.change(screen.getByRole('textbox', { name: 'Search' }), { target: { value: 'pytorch' } });
    expect(screen.queryByRole('region', { name: 'Caches, ws-1' })).toBeNull();
    view.unmount();
    Object.assign(host.lab, { images: [], pulls: [] });
    const empty = renderInWindow(<ImagesPage />, { host });
    await screen.findByText('No image yet');
    await section();
    expect(await findViolations(empty.view.container)).toEqual([]);
  });
});
