// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../core/contract/views.js';
import { refusal } from '../../../core/contract/errors.js';
import { findViolations } from '../../../test/harness/axe.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { withNewer } from '../../components/audit/use-audit.js';
import { Pages } from '../../app/pages.js';
import { activityRoute, navigate, useRoute } from '../../app/router.js';
import { ActivityPage } from './activity-page.js';

function audit(host: FakeHost, count: number): void {
  const kinds = ['job_submitted', 'job_started', 'attempt_ended', 'job_completed'] as const;
  host.lab.audit = Array.from({ length: count }, (_item, at): AuditEvent => ({
    id: count - at,
    atMs: host.nowMs - at * 60_000,
    actor: at % 4 === 0 ? 'anna' : 'controller',
    action: kinds[at % 4] ?? 'job_submitted',
    entity: `/anna/run-${Math.floor(at / 4)}`,
    detail: at % 4 === 3 ? { state: 'FAILED', exitCode: 1 } : {},
  }));
}

function Routed() {
  return <Pages route={useRoute()} />;
}

describe('Activity page', () => {
  it('lists what happened newest first, and reads older ones as the end comes near', async () => {
    const host = new FakeHost();
    audit(host, 450);
    const { view } = renderInWindow(<ActivityPage entity="" />, { host });
    const table = await screen.findByRole('table', { name: 'What happened, newest first' });
    const rows = within(table).getAllByRole('row');
    expect(rows[1]?.textContent).toContain('Job submitted');
    expect(rows[4]?.textContent).toContain('Failed, exit code 1');
    expect(rows.length).toBeLessThan(100);
    expect(within(table).getAllByRole('link')[0]?.getAttribute('href')).toBe('#/job/%2Fanna%2Frun-0');
    expect(await findViolations(view.container)).toEqual([]);
    const scroller = screen.getByRole('region', { name: 'What happened, newest first' });
    scroller.scrollTop = 190 * 30;
    fireEvent.scroll(scroller);
    await screen.findByText('the newest 400 looked through');
    expect(host.callsOf('audit.list').at(-1)).toMatchObject({ beforeId: 251 });
  });

  it('asks for one thing alone, and filters what was read by who and what', async () => {
    const host = new FakeHost();
    audit(host, 40);
    window.location.hash = '#/activity';
    renderInWindow(<Routed />, { host });
    await screen.findByText('40 in all');
    const field = screen.getByRole('textbox', { name: 'Of which job, machine or user' });
    fireEvent.change(field, { target: { value: '/anna/run-3' } });
    await screen.findByText('4 in all');
    expect(window.location.hash).toBe('#/activity?entity=%2Fanna%2Frun-3');
    expect(screen.getByRole('textbox', { name: 'Of which job, machine or user' })).toBe(field);
    fireEvent.click(screen.getByRole('combobox', { name: 'What happened' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Job ended', hidden: true }));
    expect(screen.getAllByRole('row')).toHaveLength(2);
    fireEvent.click(screen.getByRole('combobox', { name: 'By whom' }));
    fireEvent.click(await screen.findByRole('option', { name: 'anna', hidden: true }));
    await screen.findByText('Nothing in what was looked through matches.');
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    await screen.findByText('40 in all');
  });

  it('follows the address where it changes by itself', async () => {
    const host = new FakeHost();
    audit(host, 40);
    window.location.hash = '#/activity?entity=%2Fanna%2Frun-3';
    renderInWindow(<Routed />, { host });
    await screen.findByText('4 in all');
    act(() => {
      navigate(activityRoute());
    });
    await screen.findByText('40 in all');
    const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Of which job, machine or user' });
    expect(field.value).toBe('');
    // What was typed and is not asked for yet stays as it is typed.
    fireEvent.change(field, { target: { value: '/anna/run-4 ' } });
    await screen.findByText('4 in all');
    expect([field.value, window.location.hash]).toEqual([
      '/anna/run-4 ',
      '#/activity?entity=%2Fanna%2Frun-4',
    ]);
  });

  it('shows what is new when something changes', async () => {
    const host = new FakeHost();
    audit(host, 4);
    renderInWindow(<ActivityPage entity="" />, { host });
    await screen.findByText('4 in all');
    const event = {
      id: 5,
      atMs: host.nowMs,
      actor: 'bert',
      action: 'budget_set',
      entity: '/bert',
      detail: {},
    };
    host.lab.audit = [event, ...host.lab.audit];
    host.publish();
    await screen.findByRole('cell', { name: 'Budget changed' });
  });

  it('joins a page of new rows to those it has, and begins anew when some between are missing', () => {
    const row = (id: number): AuditEvent => ({
      id,
      atMs: 0,
      actor: 'a',
      action: 'x',
      entity: '/a',
      detail: {},
    });
    const ids = (events: readonly AuditEvent[]) => events.map(({ id }) => id);
    expect(ids(withNewer([row(2), row(1)], [row(3), row(2)]))).toEqual([3, 2, 1]);
    const known = [row(2)];
    expect(withNewer(known, [row(2)])).toBe(known);
    const page = Array.from({ length: 200 }, (_item, at) => row(1000 - at));
    expect(withNewer(known, page)).toBe(page);
  });

  it('teaches when nothing has happened, and says what failed', async () => {
    const { view } = renderInWindow(<ActivityPage entity="" />);
    await screen.findByText('Nothing has happened yet');
    view.unmount();
    const host = new FakeHost();
    host.refuseNext('audit.list', refusal('STORAGE_FAILED', 'The database cannot be read.'));
    renderInWindow(<ActivityPage entity="" />, { host });
    await screen.findByText('The database cannot be read.');
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(screen.queryByText('The database cannot be read.')).toBeNull());
  });
});
