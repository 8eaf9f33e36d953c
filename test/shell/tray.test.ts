import { describe, expect, it } from 'vitest';
import {
  renderTray,
  stopQuestion,
  type TrayAction,
  type TrayIcon,
  type TrayInput,
  type TrayItem,
} from '../../main/shell/tray-model.js';
import { createTray, type TrayLike } from '../../main/shell/tray.js';

const idle: TrayInput = {
  state: 'connected',
  running: 0,
  waiting: 0,
  failedUnseen: 0,
  runningJobs: [],
  notificationsPaused: false,
};

const labels = (items: readonly TrayItem[]): string[] =>
  items.map((item) => (item.kind === 'separator' ? '-' : item.label));

describe('what the tray shows', () => {
  it.each<[Partial<TrayInput>, TrayIcon, string]>([
    [{}, 'idle', 'Iris Desktop: nothing running'],
    [{ waiting: 2 }, 'idle', 'Iris Desktop: 2 waiting'],
    [{ running: 3, waiting: 1 }, 'running', 'Iris Desktop: 3 running, 1 waiting'],
    [{ failedUnseen: 1 }, 'failed', 'Iris Desktop: 1 failed'],
    [{ running: 1, failedUnseen: 2 }, 'running-failed', 'Iris Desktop: 1 running, 2 failed'],
    [{ state: 'starting', running: 1 }, 'off', 'Iris Desktop: starting'],
    [{ state: 'lost' }, 'off', 'Iris Desktop: connecting to the controller'],
    [{ state: 'failed' }, 'off', 'Iris Desktop: no controller'],
  ])('%j: %s, %s', (part, icon, tooltip) => {
    expect(renderTray({ ...idle, ...part })).toMatchObject({ icon, tooltip });
  });

  it('has the fixed entries in order', () => {
    expect(labels(renderTray(idle).menu)).toEqual([
      'Nothing running',
      '-',
      'Show Iris Desktop',
      'New job',
      '-',
      'Pause notifications',
      '-',
      'Quit Iris Desktop',
    ]);
  });

  it('lists ten running jobs, each to open or stop, and says how many more there are', () => {
    const runningJobs = Array.from({ length: 12 }, (_, n) => ({ id: `/ann/job-${n}`, name: `job-${n}` }));
    const { menu } = renderTray({ ...idle, running: 12, runningJobs });
    const jobs = menu.filter((item) => item.kind === 'submenu');
    expect(jobs).toHaveLength(10);
    expect(jobs[0]).toEqual({
      kind: 'submenu',
      label: 'job-0',
      items: [
        { kind: 'action', label: 'Open', action: { kind: 'open-job', jobId: '/ann/job-0' } },
        {
          kind: 'action',
          label: 'Stop job-0',
          action: { kind: 'stop-job', jobId: '/ann/job-0', name: 'job-0' },
        },
      ],
    });
    expect(labels(menu)).toContain('and 2 more running');
  });

  it('shows any name as it is: ampersands doubled, controls blanked, long ones cut', () => {
    const names = ['a & b', 'x\ny', 'n'.repeat(80)];
    const runningJobs = names.map((name) => ({ id: `/ann/${name.length}`, name }));
    const { menu } = renderTray({ ...idle, running: 3, runningJobs });
    expect(menu.filter((item) => item.kind === 'submenu').map((item) => item.label)).toEqual([
      'a && b',
      'x y',
      `${'n'.repeat(59)}…`,
    ]);
  });

  it('asks before it stops one, the whole name in the text and none on a button', () => {
    expect(stopQuestion('train_llm_2 & co')).toEqual({
      title: 'Stop train_llm_2 & co?',
      detail: 'Its log and results stay.',
      stop: 'Stop',
      failed: 'train_llm_2 & co was not stopped',
    });
    expect(stopQuestion('n'.repeat(255)).title).toBe(`Stop ${'n'.repeat(59)}…?`);
  });

  it('writes large numbers as the window does', () => {
    expect(renderTray({ ...idle, running: 1234, waiting: 98_765 }).tooltip).toBe(
      'Iris Desktop: 1,234 running, 98,765 waiting',
    );
  });

  it('offers to start the controller again only when none will be tried', () => {
    expect(labels(renderTray({ ...idle, state: 'failed' }).menu)).toContain('Start the controller again');
    expect(labels(renderTray({ ...idle, state: 'lost' }).menu)).not.toContain('Start the controller again');
  });
});

describe('drawing it', () => {
  it('sets only what changed, and acts on clicks', () => {
    const done: string[] = [];
    const acted: TrayAction[] = [];
    const clicks: (() => void)[] = [];
    const make = (icon: TrayIcon): TrayLike => {
      done.push(`made ${icon}`);
      return {
        setImage: (next) => done.push(`image ${next}`),
        setTooltip: (text) => done.push(text),
        setMenu: () => done.push('menu'),
        onClick: (listener) => clicks.push(listener),
        destroy: () => done.push('destroyed'),
      };
    };
    const tray = createTray(
      make,
      (action) => acted.push(action),
      () => undefined,
    );
    tray.show(renderTray(idle));
    tray.show(renderTray(idle));
    tray.show(renderTray({ ...idle, running: 1 }));
    clicks[0]?.();
    tray.destroy();
    expect(done).toEqual([
      'made idle',
      'Iris Desktop: nothing running',
      'menu',
      'image running',
      'Iris Desktop: 1 running',
      'menu',
      'destroyed',
    ]);
    expect(acted).toEqual([{ kind: 'show' }]);
  });

  it('says what an action failed with, and takes back the check that the click had set', () => {
    const menus: { items: readonly TrayItem[]; act: (action: TrayAction) => void }[] = [];
    const failures: unknown[] = [];
    const tray = createTray(
      () => ({
        setImage: () => undefined,
        setTooltip: () => undefined,
        setMenu: (items, act) => menus.push({ items, act }),
        onClick: () => undefined,
        destroy: () => undefined,
      }),
      () => {
        throw new Error('ENOSPC: no space left on device');
      },
      (error) => failures.push(error),
    );
    tray.show(renderTray(idle));
    menus[0]?.act({ kind: 'pause-notifications', paused: true });
    expect(failures).toEqual([new Error('ENOSPC: no space left on device')]);
    expect(menus).toHaveLength(2);
    expect(menus[1]?.items).toContainEqual(
      expect.objectContaining({ kind: 'check', label: 'Pause notifications', checked: false }),
    );
  });
});
