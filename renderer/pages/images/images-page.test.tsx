// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { findViolations } from '../../../test/harness/axe.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeImages, fakeLab } from '../../../test/harness/fake-lab.js';
import { setImages, setPull } from '../../../test/harness/fake-machines.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { ImagesPage } from './images-page.js';

function lab(): FakeHost {
  const host = new FakeHost();
  host.machines = fakeLab(host.nowMs);
  Object.assign(host.lab, fakeImages(host.nowMs));
  return host;
}

describe('Images page', () => {
  it('lists images by machine with size and use, and how far a pull is', async () => {
    const { host, view } = renderInWindow(<ImagesPage />, { host: lab() });
    const here = await screen.findByRole('table', { name: 'Images, ws-1' });
    const rows = within(here)
      .getAllByRole('row')
      .slice(1)
      .map((row) => row.textContent);
    expect(rows[0]).toContain('registry.lab/vision/train:2026-11');
    expect(rows[1]).toContain('2 containers');
    const progress = screen.getByRole('progressbar', {
      name: 'Progress of nvcr.io/nvidia/pytorch:26.10-py3',
    });
    expect(progress.parentElement?.textContent).toContain('9.1 GiB of 21.8 GiB, 19 of 42 layers');
    expect(screen.getByText(/^registry\.lab asks for a login/)).toBeTruthy();
    expect(await findViolations(view.container)).toEqual([]);
    const pull = host.lab.pulls.find(({ state }) => state === 'PULLING');
    if (pull === undefined) throw new Error('nothing is pulled');
    setPull(host, { ...pull, layersDone: 40 });
    await screen.findByText(/40 of 42 layers/);
    fireEvent.click(screen.getByRole('button', { name: `Cancel the pull of ${pull.image}` }));
    await screen.findByText('Cancelled');
  });

  it('shows what others brought, without asking while nothing changes', async () => {
    const { host } = renderInWindow(<ImagesPage />, { host: lab() });
    await screen.findByRole('table', { name: 'Images, ws-1' });
    const asked = host.callsOf('image.list').length;
    const pull = host.lab.pulls.find(({ state }) => state === 'PULLING');
    if (pull === undefined) throw new Error('nothing is pulled');
    setPull(host, { ...pull, layersDone: 41 });
    await screen.findByText(/41 of 42 layers/);
    expect(host.callsOf('image.list')).toHaveLength(asked);
    const [first] = host.lab.images;
    if (first === undefined) throw new Error('there is no image');
    setImages(host, [...host.lab.images, { ...first, id: 'sha256:77', names: ['brought:1'] }]);
    await screen.findByText('brought:1');
    expect(host.callsOf('image.list')).toHaveLength(asked + 1);
  });

  it('pulls what is named to the machine that is chosen, and tells a refusal in the form', async () => {
    const { host } = renderInWindow(<ImagesPage />, { host: lab() });
    await screen.findByRole('table', { name: 'Images, ws-1' });
    fireEvent.keyDown(document.body, { key: 'p' });
    const dialog = await screen.findByRole('dialog', { name: 'Pull an image' });
    const field = within(dialog).getByRole('textbox', { name: 'Image' });
    fireEvent.change(field, { target: { value: '-x' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Pull' }));
    await within(dialog).findByText(/^-x: expected the name of a container image/);
    host.refuseNext('image.pull', refusal('NOT_FOUND', 'There is no tag 9 of python.'));
    fireEvent.change(field, { target: { value: 'python:9' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Pull' }));
    await within(dialog).findByText('Not pulled. There is no tag 9 of python.');
    fireEvent.change(field, { target: { value: 'python:3.13' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Pull' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await screen.findByText('python:3.13');
    expect(host.callsOf('image.pull').at(-1)).toEqual({ machineId: 'ws-1', image: 'python:3.13' });
  });

  it('removes after a question that names it, never what is in use', async () => {
    const { host } = renderInWindow(<ImagesPage />, { host: lab() });
    const remove = await screen.findByRole('button', { name: 'Remove python:3.12-slim' });
    fireEvent.click(remove);
    const dialog = await screen.findByRole('dialog', { name: 'Remove python:3.12-slim from ws-1?' });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Remove image' }));
    await waitFor(() => expect(screen.queryByText('python:3.12-slim')).toBeNull());
    expect(host.callsOf('image.remove')).toHaveLength(1);
    const used = screen.getAllByRole('button', { name: /^Remove pytorch/ });
    expect(used.map((button) => button.hasAttribute('disabled'))).toEqual([true, false]);
  });

  it('finds by a part of the name, teaches when there is none, and says when no Docker is there', async () => {
    const host = lab();
    const { view } = renderInWindow(<ImagesPage />, { host });
    await screen.findByRole('table', { name: 'Images, ws-1' });
    fireEvent.change(screen.getByRole('textbox', { name: 'Search' }), { target: { value: 'nvcr' } });
    expect(screen.queryByRole('table', { name: 'Images, ws-1' })).toBeNull();
    expect(screen.getByRole('table', { name: 'Images, h100-1' })).toBeTruthy();
    view.unmount();
    Object.assign(host.lab, { images: [], pulls: [] });
    const empty = renderInWindow(<ImagesPage />, { host });
    await screen.findByText('No image yet');
    empty.view.unmount();
    renderInWindow(<ImagesPage />, { host: new FakeHost() });
    await screen.findByText('No Docker to list images of');
  });
});
