// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { createShortcutEngine, type Shortcut } from './shortcuts.js';

function engineWith(...groups: (readonly Shortcut[])[]) {
  let nowMs = 0;
  const engine = createShortcutEngine(() => nowMs);
  for (const shortcuts of groups) engine.add({ current: { title: 'test', shortcuts } });
  return {
    later(ms: number) {
      nowMs += ms;
    },
    press(key: string, init: KeyboardEventInit = {}, target: HTMLElement = document.body): boolean {
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init });
      let seen = false;
      target.addEventListener(
        'keydown',
        (caught) => {
          seen = true;
          engine.handle(caught);
        },
        { once: true },
      );
      target.dispatchEvent(event);
      expect(seen).toBe(true);
      return event.defaultPrevented;
    },
  };
}

describe('shortcuts', () => {
  it('runs single keys, keys with a modifier and characters made with shift', () => {
    const ran: string[] = [];
    const { press } = engineWith([
      { keys: 'n', run: () => void ran.push('n') },
      { keys: 'mod+k', run: () => void ran.push('palette') },
      { keys: '?', run: () => void ran.push('help') },
      { keys: 'shift+j', run: () => void ran.push('extend') },
    ]);
    expect(press('n')).toBe(true);
    press('k', { ctrlKey: true });
    press('k', { metaKey: true });
    press('?', { shiftKey: true });
    press('J', { shiftKey: true });
    expect(press('k')).toBe(false);
    expect(ran).toEqual(['n', 'palette', 'palette', 'help', 'extend']);
  });

  it('runs a sequence of two keys, within a moment, before the single key of the same letter', () => {
    const ran: string[] = [];
    const { press, later } = engineWith(
      [{ keys: 'g j', run: () => void ran.push('go to jobs') }],
      [{ keys: 'j', run: () => void ran.push('down') }],
    );
    press('g');
    press('j');
    press('j');
    press('g');
    later(5000);
    press('j');
    expect(ran).toEqual(['go to jobs', 'down', 'down']);
  });

  it('lets the part shown last go first, and the next when it declines', () => {
    const ran: string[] = [];
    let declines = false;
    const { press } = engineWith(
      [{ keys: 'Escape', run: () => void ran.push('frame') }],
      [
        {
          keys: 'Escape',
          run: () => {
            if (declines) return false;
            ran.push('page');
            return true;
          },
        },
      ],
    );
    press('Escape');
    declines = true;
    press('Escape');
    expect(ran).toEqual(['page', 'frame']);
  });

  it('leaves text fields their letters, and buttons their Enter and Space', () => {
    const ran: string[] = [];
    const { press } = engineWith([
      { keys: 'x', run: () => void ran.push('stop') },
      { keys: 'Enter', run: () => void ran.push('open') },
      { keys: 'mod+Enter', inFields: true, run: () => void ran.push('submit') },
    ]);
    const field = document.body.appendChild(document.createElement('input'));
    const button = document.body.appendChild(document.createElement('button'));
    expect(press('x', {}, field)).toBe(false);
    press('Enter', {}, button);
    press('Enter', { ctrlKey: true }, field);
    expect(ran).toEqual(['submit']);
  });
});
