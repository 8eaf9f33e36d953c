// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeBudget, fakeBudgetsTopic, setFakeHalfLife } from '../../../test/harness/fake-budgets.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { BudgetsPage } from './budgets-page.js';

const rowOf = async (user: string) => {
  const header = await screen.findByRole('rowheader', { name: new RegExp(`^${user}`) });
  const row = header.closest('tr');
  if (row === null) throw new Error(`no row of ${user}`);
  return row;
};
const textsOf = (row: HTMLElement) =>
  within(row)
    .getAllByRole('cell')
    .map((cell) => cell.textContent);

async function edit(user: string): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name: `Change the budget of ${user}` }));
}

async function confirmed(): Promise<string> {
  const dialog = await screen.findByRole('dialog');
  const text = dialog.textContent;
  fireEvent.click(within(dialog).getByRole('button', { name: 'Change budget' }));
  return text;
}

describe('Budgets page', () => {
  it('shows each user’s limit, use, best band and rights, and no number for no limit', async () => {
    const { view } = renderInWindow(<BudgetsPage />);
    expect(textsOf(await rowOf('anna'))).toEqual([
      '4,500 default',
      '2,164',
      '1,209',
      'Interactive',
      '–No right to the upper bands, Production and System.',
      '–Nothing bounds what may be active at once.',
      '',
    ]);
    expect(textsOf(await rowOf('bert')).slice(0, 3)).toEqual(['1,000', '1,230', '0']);
    expect(textsOf(await rowOf('clara')).slice(0, 5)).toEqual([
      'No limit',
      '0',
      '0',
      'Interactive',
      'Production',
    ]);
    const meter = within(await rowOf('anna')).getByRole('meter', { name: 'Used by anna' });
    expect(meter.getAttribute('aria-valuetext')).toBe('2,164 of 4,500');
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('has one’s own budget on top, by part, and warns before and after the limit', async () => {
    const { host } = renderInWindow(<BudgetsPage />);
    const own = await screen.findByRole('region', { name: 'Your budget' });
    expect(own.textContent).toContain('2,164 of 4,500');
    expect(own.textContent).toContain('GPUs 2,000, memory 104, processors 60');
    expect(within(own).queryByRole('status')).toBeNull();
    const tell = (total: number) => {
      host.budgets.rows = [fakeBudget('anna', { spend: { gpus: total, memory: 0, processors: 0, total } })];
      host.tell('budgets', () => fakeBudgetsTopic(host.budgets));
    };
    tell(4000);
    expect((await within(own).findByRole('status')).textContent).toMatch(/^500 left\./);
    tell(5000);
    await within(own).findByText(/^500 over the limit\./);
  });

  it('shows what a user uses by part, now and over time', async () => {
    const { host, view } = renderInWindow(<BudgetsPage />);
    const row = await rowOf('anna');
    const own = screen.getByRole('region', { name: 'Your budget' });
    expect(own.textContent).toContain('processors 60. 1,209 GPU-hours in all.');
    const button = within(row).getByRole('button', { name: 'What anna uses, by part' });
    fireEvent.click(button);
    expect(button.getAttribute('aria-expanded')).toBe('true');
    const linesOf = () =>
      within(screen.getByRole('table', { name: 'What anna uses, by part' }))
        .getAllByRole('row')
        .map((line) => line.textContent);
    expect(linesOf()).toEqual([
      'PartUsed nowGPU-hours',
      'GPUs2,0001,204',
      'Memory1043.3',
      'Processors601.5',
      'Together2,1641,209',
    ]);
    expect(await findViolations(view.container)).toEqual([]);
    setFakeHalfLife(host.budgets, 7 * 86_400_000);
    host.tell('budgets', () => fakeBudgetsTopic(host.budgets));
    await waitFor(() => {
      expect(linesOf()[1]).toBe('GPUs2,0001,204301');
    });
    fireEvent.click(button);
    expect(screen.queryByRole('table', { name: 'What anna uses, by part' })).toBeNull();
  });

  it('has what still counts of past use in a column of its own once it fades, after one question', async () => {
    const { host, view } = renderInWindow(<BudgetsPage />);
    await screen.findByText('Within a band, whoever uses least now goes first.');
    expect(screen.queryByRole('columnheader', { name: 'Faded' })).toBeNull();
    fireEvent.click(screen.getByRole('combobox', { name: 'Past use' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Counts half after 7 days', hidden: true }));
    const dialog = await screen.findByRole('dialog', { name: 'Change how past use counts?' });
    expect(dialog.textContent).toContain('half of it is left after 7 days');
    expect(host.callsOf('budget.halfLife')).toEqual([]);
    fireEvent.click(within(dialog).getByRole('button', { name: 'Change' }));
    const column = await screen.findByRole('columnheader', { name: 'Faded' });
    expect(column.title).toContain('those of 7 days ago counting half');
    expect(host.callsOf('budget.halfLife')).toMatchObject([{ halfLifeMs: 7 * 86_400_000 }]);
    expect(textsOf(await rowOf('anna')).slice(0, 4)).toEqual(['4,500 default', '2,164', '1,209', '302']);
    await screen.findByText(
      'Within a band, whoever used least goes first; what was used 7 days ago counts half.',
    );
    await waitFor(() => {
      expect(screen.queryByRole('dialog')).toBeNull();
    });
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('says why past use was not changed', async () => {
    const { host } = renderInWindow(<BudgetsPage />);
    host.refuseNext('budget.halfLife', refusal('STORAGE_FAILED', 'The disk is full.'));
    fireEvent.click(await screen.findByRole('combobox', { name: 'Past use' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Counts half after 1 day', hidden: true }));
    fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Change' }));
    expect((await screen.findByRole('alert')).textContent).toBe('Not changed. The disk is full.');
  });

  it('changes a budget in place after one question that names the change', async () => {
    const { host } = renderInWindow(<BudgetsPage />);
    await edit('bert');
    fireEvent.change(await screen.findByRole('textbox', { name: 'Limit' }), { target: { value: '2,500' } });
    fireEvent.click(screen.getByRole('checkbox', { name: 'Production' }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const question = await confirmed();
    expect(question).toContain('Change the budget of bert?');
    expect(question).toContain('Limit: 1,000 becomes 2,500.');
    expect(question).toContain('May ask for Production');
    await waitFor(async () => {
      expect(textsOf(await rowOf('bert')).slice(0, 5)).toEqual([
        '2,500',
        '1,230',
        '0',
        'Batch',
        'Production',
      ]);
    });
    expect(host.callsOf('budget.set')).toMatchObject([
      { user: 'bert', change: { limit: 2500, allow: ['PRODUCTION'], disallow: [] } },
    ]);
  });

  it('sends nothing when the question is answered with no, or nothing differs', async () => {
    const { host } = renderInWindow(<BudgetsPage />);
    await edit('clara');
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Production' }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog.textContent).toContain('May no longer ask for Production.');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => {
      expect(screen.queryByRole('dialog')).toBeNull();
    });
    fireEvent.click(screen.getByRole('checkbox', { name: 'Production' }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByRole('button', { name: 'Change the budget of clara' });
    expect(host.callsOf('budget.set')).toEqual([]);
  });

  it('shows a wrong limit beside its field and asks nothing', async () => {
    renderInWindow(<BudgetsPage />);
    await edit('bert');
    fireEvent.change(await screen.findByRole('textbox', { name: 'Limit' }), { target: { value: '-3' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('-3: expected a whole number from 1 to 1000000000.');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('sets a budget for a user who has none', async () => {
    const { host, view } = renderInWindow(<BudgetsPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Set for a user' }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Name a user.');
    fireEvent.change(screen.getByRole('textbox', { name: 'Name of the user' }), {
      target: { value: 'dora' },
    });
    fireEvent.click(screen.getByRole('checkbox', { name: 'System' }));
    expect(await findViolations(view.container)).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await confirmed();
    await waitFor(async () => {
      expect(textsOf(await rowOf('dora')).slice(0, 5)).toEqual([
        '4,500 default',
        '0',
        '0',
        'Interactive',
        'System',
      ]);
    });
    expect(host.callsOf('budget.set')).toMatchObject([{ user: 'dora', change: { allow: ['SYSTEM'] } }]);
  });

  it('bounds what may be active at once, and takes the bounds away', async () => {
    const { host } = renderInWindow(<BudgetsPage />);
    await edit('clara');
    const field = () => screen.findByRole('textbox', { name: 'Quota' });
    fireEvent.change(await field(), { target: { value: 'gpus=two' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText(/^gpus=two: expected bounds such as gpus=4/);
    fireEvent.change(await field(), { target: { value: 'gpus=2, tasks=10' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect((await screen.findByRole('dialog')).textContent).toContain(
      'Quota: none becomes gpus=2, tasks=10.',
    );
    await confirmed();
    await waitFor(() => {
      expect(host.callsOf('budget.set')).toMatchObject([
        { user: 'clara', change: { quota: { gpus: 2, tasks: 10, cpuMillicores: null, memoryBytes: null } } },
      ]);
    });
  });

  it('tells a refusal in the row and keeps what was typed', async () => {
    const { host } = renderInWindow(<BudgetsPage />);
    host.refuseNext('budget.set', refusal('STORAGE_FAILED', 'The disk is full.'));
    await edit('bert');
    fireEvent.change(await screen.findByRole('textbox', { name: 'Limit' }), { target: { value: '7' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await confirmed();
    expect((await screen.findByRole('alert')).textContent).toBe('Not changed. The disk is full.');
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Limit' }).value).toBe('7');
  });

  it.each([
    ['is done', null],
    ['is refused', refusal('STORAGE_FAILED', 'The disk is full.')],
  ])('leaves another row as it is when one that was left %s', async (_name, reason) => {
    const { host } = renderInWindow(<BudgetsPage />);
    await edit('bert');
    const field = (name: string) => screen.findByRole<HTMLInputElement>('textbox', { name });
    fireEvent.change(await field('Limit'), { target: { value: '7' } });
    host.hold();
    if (reason !== null) host.refuseNext('budget.set', reason);
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await confirmed();
    fireEvent.keyDown(await field('Limit'), { key: 'Escape' });
    await edit('anna');
    fireEvent.change(await field('Quota'), { target: { value: 'gpus=9' } });
    host.release();
    if (reason === null) {
      const row = await rowOf('bert');
      await waitFor(() => {
        expect(row.textContent).not.toContain('1,000');
      });
    } else await screen.findByText('bert: Not changed. The disk is full.');
    expect((await field('Quota')).value).toBe('gpus=9');
  });

  it('offers no change to who may not make one, and says who may', async () => {
    const host = new FakeHost();
    host.budgets.mayManage = false;
    renderInWindow(<BudgetsPage />, { host });
    await screen.findByText(/Only the owner of the data folder may change budgets\./);
    expect(screen.queryByRole('button', { name: /^(Set|Change)/ })).toBeNull();
    expect(screen.queryByRole('combobox', { name: 'Past use' })).toBeNull();
  });

  it('says what failed and tries again', async () => {
    const host = new FakeHost();
    host.refuseNext('budget.list', refusal('INTERNAL', 'The budgets were not made.'));
    renderInWindow(<BudgetsPage />, { host });
    await screen.findByText('The budgets could not be loaded');
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await rowOf('anna');
  });

  it('gives the focus back to where the editing began, and lets Esc close the choices of a field first', async () => {
    renderInWindow(<BudgetsPage />);
    await edit('anna');
    const kind = screen.getByRole('combobox', { name: 'Kind of limit' });
    fireEvent.click(kind);
    await waitFor(() => expect(kind.getAttribute('aria-expanded')).toBe('true'));
    fireEvent.keyDown(kind, { key: 'Escape' });
    await waitFor(() => expect(kind.getAttribute('aria-expanded')).toBe('false'));
    expect(screen.getByRole('button', { name: 'Save' })).toBeTruthy();
    fireEvent.keyDown(kind, { key: 'Escape' });
    expect(screen.queryByRole('button', { name: 'Save' })).toBe(null);
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Change the budget of anna');

    fireEvent.click(screen.getByRole('button', { name: 'Set for a user' }));
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(document.activeElement?.textContent).toBe('Set for a user');
  });
});
