// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import type { LogCut } from '../../../core/formats/log-cut.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeBounds } from '../../../test/harness/fake-handlers.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { skipBytes } from './log-feed.js';
import type { LogTerminal, LogTerminalOptions } from './log-terminal.js';
import { LogView } from './log-view.js';

const uid = '0123456789abcdef';

/** A terminal that keeps what is written, without the escapes, and what it is told to do. */
function fakeTerminals() {
  const state = { text: '', done: [] as string[], options: null as LogTerminalOptions | null };
  const make = (_host: HTMLElement, _margin: HTMLElement, options: LogTerminalOptions): LogTerminal => {
    state.text = '';
    state.options = options;
    const note = (what: string) => () => void state.done.push(what);
    return {
      screen: {
        columns: 80,
        write(text, written) {
          state.text += text.replaceAll(/\u001b\[[0-9;]*m/g, '').replaceAll('\r\n', '\n');
          queueMicrotask(written);
        },
        clear: () => void (state.text = ''),
        cursorRow: () => state.text.split('\n').length - 1,
        scrollToRow: () => undefined,
        scrollToEnd: () => undefined,
      },
      setScheme: () => undefined,
      setScreenReader: (on) => void state.done.push(`screen reader ${String(on)}`),
      scroll: (what) => void state.done.push(`scroll ${what}`),
      text: () => state.text,
      hasSelection: () => false,
      selectRow: (row) => void state.done.push(`select ${row}`),
      find: (text, direction, matchCase) =>
        void state.done.push(`find ${text} ${direction}${matchCase ? ' exact' : ''}`),
      endFind: note('end find'),
      dispose: () => undefined,
    };
  };
  return { state, make };
}

function show(host = new FakeHost({ jobs: 0 }), running = true, cut: LogCut | null = null) {
  const { state, make } = fakeTerminals();
  const { view } = renderInWindow(
    <LogView
      attemptUid={uid}
      fileName="train.log"
      cut={cut}
      running={running}
      status="Running"
      makeTerminal={make}
    />,
    { host },
  );
  return { host, state, view };
}

const shows = async (state: { readonly text: string }, text: string) => {
  await waitFor(() => {
    expect(state.text).toBe(text);
  });
};
const followButton = () => screen.getByRole('button', { name: 'Follow' });

describe('Log view', () => {
  it('follows what is printed, stops where the reader asks, says how much is newer, and goes on', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'one\n');
    const { state } = show(host);
    await shows(state, 'one\n');
    expect(followButton().getAttribute('aria-pressed')).toBe('true');
    fireEvent.keyDown(document.body, { key: 'f' });
    expect(followButton().getAttribute('aria-pressed')).toBe('false');
    act(() => {
      host.log(uid, 'out', 'three\n');
    });
    await screen.findByText('6 B newer');
    expect(state.text).toBe('one\n');
    fireEvent.click(screen.getByRole('button', { name: 'Jump to end' }));
    await shows(state, 'one\nthree\n');
    expect(followButton().getAttribute('aria-pressed')).toBe('true');
  });

  it('draws over the last line what was printed since, until the log has it', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'one\n\r 1%');
    const { state } = show(host);
    await shows(state, 'one\n\r 1%');
    const sizes = host.logSize(uid);
    host.tell('log', () => ({ ...sizes, heard: { out: '\r 7%', err: '' } }));
    await waitFor(() => {
      expect(state.text.endsWith(' 7%')).toBe(true);
    });
    host.log(uid, 'out', '\r 2%\r 7%');
    await waitFor(() => {
      expect(state.text.endsWith('\r 1%\r 2%\r 7%')).toBe(true);
    });
  });

  it('says in its place where the disk was full', async () => {
    const host = new FakeHost({ jobs: 0 });
    const mark = '··· The disk was full here: output may be missing. ···\n';
    host.log(uid, 'out', 'one\ntw');
    const { state } = show(host, true, { out: 6, err: 0 });
    await shows(state, `one\ntw\n${mark}`);
    host.log(uid, 'out', 'three\n');
    await shows(state, `one\ntw\n${mark}three\n`);
  });

  it('stops following when the reader scrolls up', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'one\n');
    const { state } = show(host);
    await shows(state, 'one\n');
    act(() => state.options?.onReaderScrolled({ atTop: true, atBottom: false }));
    expect(followButton().getAttribute('aria-pressed')).toBe('false');
    act(() => state.options?.onReaderScrolled({ atTop: false, atBottom: true }));
    expect(followButton().getAttribute('aria-pressed')).toBe('true');
  });

  it('finds from the keyboard, counts the matches, and lets go with Esc', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'loss 1\nloss 2\n');
    const { state } = show(host);
    await shows(state, 'loss 1\nloss 2\n');
    fireEvent.keyDown(document.body, { key: '/' });
    const field = await screen.findByRole('textbox', { name: 'Find in what is shown' });
    await waitFor(() => {
      expect(document.activeElement).toBe(field);
    });
    fireEvent.change(field, { target: { value: 'loss' } });
    act(() => state.options?.onMatches({ index: 1, total: 2, more: false }));
    expect(screen.getByText('1 of 2')).toBeTruthy();
    expect(followButton().getAttribute('aria-pressed')).toBe('false');
    fireEvent.keyDown(field, { key: 'Enter' });
    fireEvent.keyDown(field, { key: 'Enter', shiftKey: true });
    fireEvent.click(screen.getByRole('button', { name: 'Match case' }));
    expect(state.done).toEqual([
      'find loss same',
      'find loss next',
      'find loss previous',
      'find loss same exact',
    ]);
    fireEvent.keyDown(field, { key: 'Escape' });
    expect(screen.queryByRole('search')).toBeNull();
    expect(state.done.at(-1)).toBe('end find');
  });

  it('lists the matches of the whole log and goes to the one chosen', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'epoch 1\nloss is nan\nepoch 2\n', true);
    const { state } = show(host, false);
    await shows(state, 'epoch 1\nloss is nan\nepoch 2\n');
    fireEvent.keyDown(document.body, { key: '/' });
    fireEvent.change(await screen.findByRole('textbox', { name: 'Find in what is shown' }), {
      target: { value: 'nan' },
    });
    fireEvent.click(screen.getByRole('button', { name: 'Whole log' }));
    await screen.findByText('1 line in the whole log');
    fireEvent.click(screen.getByRole('button', { name: /loss is nan/ }));
    await waitFor(() => {
      expect(state.done.at(-1)).toMatch(/^select /);
    });
  });

  it('searches the whole log to its end before it says that nothing is there', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', `${'epoch\n'.repeat(400)}loss is nan\n`, true);
    fakeBounds.searchedAtOnce = 1000;
    onTestFinished(() => {
      fakeBounds.searchedAtOnce = Infinity;
    });
    const { state } = show(host, false);
    await waitFor(() => {
      expect(state.text).toContain('nan');
    });
    fireEvent.keyDown(document.body, { key: '/' });
    const field = await screen.findByRole('textbox', { name: 'Find in what is shown' });
    const said: (string | null)[] = [];
    const find = async (text: string, outcome: string) => {
      fireEvent.change(field, { target: { value: text } });
      fireEvent.click(screen.getByRole('button', { name: 'Whole log' }));
      const list = screen.getByRole('region', { name: 'Whole log' });
      const watch = new MutationObserver(() => said.push(within(list).getByRole('status').textContent));
      watch.observe(list, { subtree: true, childList: true, characterData: true });
      await within(list).findByText(outcome);
      watch.disconnect();
    };
    await find('nan', '1 line in the whole log');
    await find('diverged', 'No line of the whole log holds this text.');
    expect(host.callsOf('log.search').length).toBeGreaterThan(4);
    expect(said.filter((text) => text?.startsWith('No line') === true)).toEqual([
      'No line of the whole log holds this text.',
    ]);
  });

  it('keeps the text for screen readers on where another stream is chosen, and ends it', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'one\n');
    const { state } = show(host);
    await shows(state, 'one\n');
    fireEvent.click(screen.getByRole('button', { name: 'More' }));
    const toggle = await screen.findByRole('menuitemcheckbox', { name: 'Text for screen readers' });
    fireEvent.click(toggle);
    expect(state.done.at(-1)).toBe('screen reader true');
    const before = state.done.length;
    fireEvent.click(screen.getByRole('radio', { name: 'stdout' }));
    await shows(state, 'one\n');
    expect(state.done.slice(before)).toContain('screen reader true');
    fireEvent.click(toggle);
    expect(state.done.at(-1)).toBe('screen reader false');
  });

  it('shows one stream alone, and where a stream is empty leads to the other', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'err', 'warning\n');
    const { state } = show(host);
    await shows(state, 'warning\n');
    const streams = screen.getByRole('radiogroup', { name: 'Which output is shown' });
    fireEvent.click(within(streams).getByRole('radio', { name: 'stdout' }));
    await screen.findByText('Nothing on stdout. There is output on stderr.');
    expect(state.text).toBe('');
    fireEvent.click(screen.getByRole('button', { name: 'Show stderr' }));
    await shows(state, 'warning\n');
    expect(screen.queryByText(/Nothing on stdout/)).toBeNull();
  });

  it('marks what it skips when more is printed than can be read', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.log(uid, 'out', 'first\n');
    const { state } = show(host);
    await shows(state, 'first\n');
    act(() => {
      host.log(
        uid,
        'out',
        'x'
          .repeat(99)
          .concat('\n')
          .repeat(Math.ceil((skipBytes * 2) / 100)),
      );
    });
    await waitFor(() => {
      expect(state.text).toMatch(/^first\n··· [\d.]+ MiB not shown here: .* Save keeps all of it\. ···\n/);
    });
  });

  it('says when nothing was printed, saves what is chosen, and says why a log cannot be read', async () => {
    const host = new FakeHost({ jobs: 0 });
    const empty = show(host);
    await screen.findByText('Nothing printed yet');
    expect(await findViolations(empty.view.container)).toEqual([]);
    fireEvent.click(screen.getByRole('radio', { name: 'stderr' }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Saved to /home/anna/train.log.');
    expect(host.savedLogs).toEqual([`train.log ${uid} err`]);
    host.refuseNext('log.read', refusal('STORAGE_FAILED', 'The log file is gone.'));
    act(() => {
      host.log(uid, 'err', 'late\n');
    });
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('The log file is gone.');
    fireEvent.click(within(alert).getByRole('button', { name: 'Try again' }));
    await shows(empty.state, 'late\n');
  });
});
