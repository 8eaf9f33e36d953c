/**
 * Keys of the window. A component says which keys it answers while it is shown; the latest shown goes first. The same list is what
 * the `?` help shows, so help and behaviour cannot differ.
 */
import { createContext, useContext, useEffect, useMemo, useRef, type ReactNode } from 'react';
import { createStore, type ReadableStore, type WritableStore } from '../state/store.js';

export interface Shortcut {
  /** `n`, `?`, `Escape`, `ArrowDown`, `mod+k`, `mod+Enter`, `shift+J`, or a sequence of two: `g j`. Several: `['j', 'ArrowDown']`. */
  readonly keys: string | readonly string[];
  /** What it does, for the help. Absent: not listed. */
  readonly label?: string;
  /** Keys the help shows for it, when one line stands for several shortcuts. */
  readonly shown?: readonly string[];
  /** Also while a text field has the focus. */
  readonly inFields?: boolean;
  /** Return false to let the next one try, and the browser act. */
  readonly run: (event: KeyboardEvent) => unknown;
}

export interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

interface Registry {
  readonly groups: ReadableStore<readonly ShortcutGroup[]>;
  readonly add: (group: { readonly current: ShortcutGroup }) => () => void;
}

const sequenceMs = 1200;

export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true;
  return (
    target instanceof HTMLInputElement &&
    !['checkbox', 'radio', 'button', 'submit', 'range'].includes(target.type)
  );
}

/** Buttons and links answer Enter and Space themselves. */
function isActivation(event: KeyboardEvent): boolean {
  if (event.key !== 'Enter' && event.key !== ' ') return false;
  return (
    event.target instanceof Element &&
    event.target.closest('button, a, input, summary, [role="menuitem"]') !== null
  );
}

function keyOf(event: KeyboardEvent): string {
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push('mod');
  if (event.altKey) parts.push('alt');
  // Shift is part of the character for printable keys (`?`), except letters.
  const letter = /^[a-z]$/i.test(event.key);
  if (event.shiftKey && (letter || event.key.length > 1 || event.key === ' ')) parts.push('shift');
  parts.push(letter ? event.key.toLowerCase() : event.key === ' ' ? 'Space' : event.key);
  return parts.join('+');
}

function normal(keys: string): string {
  return keys
    .split('+')
    .map((part) => (/^[A-Z]$/.test(part) ? part.toLowerCase() : part))
    .join('+');
}

export function keysOf(shortcut: Shortcut): readonly string[] {
  return typeof shortcut.keys === 'string' ? [shortcut.keys] : shortcut.keys;
}

interface ShortcutEngine extends Registry {
  readonly handle: (event: KeyboardEvent) => void;
}

export function createShortcutEngine(now: () => number = Date.now): ShortcutEngine {
  const entries: { readonly current: ShortcutGroup }[] = [];
  const groups: WritableStore<readonly ShortcutGroup[]> = createStore<readonly ShortcutGroup[]>([]);
  let first: { readonly key: string; readonly atMs: number } | null = null;

  const publish = () => {
    groups.set(entries.map((entry) => entry.current));
  };

  return {
    groups,
    add(group) {
      entries.push(group);
      publish();
      return () => {
        entries.splice(entries.indexOf(group), 1);
        publish();
      };
    },
    handle(event) {
      if (event.defaultPrevented || event.isComposing) return;
      if (['Control', 'Shift', 'Alt', 'Meta'].includes(event.key)) return;
      const key = keyOf(event);
      const inField = isTextField(event.target);
      const sequence = first !== null && now() - first.atMs < sequenceMs ? `${first.key} ${key}` : null;
      first = null;
      let startsSequence = false;
      for (const entry of [...entries].reverse()) {
        for (const shortcut of entry.current.shortcuts) {
          if (inField && shortcut.inFields !== true) continue;
          for (const written of keysOf(shortcut)) {
            const wanted = written.split(' ').map(normal).join(' ');
            if (wanted.startsWith(`${key} `)) startsSequence = true;
            if (wanted !== key && wanted !== sequence) continue;
            if (wanted === key && sequence !== null && hasSequence(sequence)) continue;
            if (isActivation(event) && shortcut.inFields !== true) continue;
            if (shortcut.run(event) === false) continue;
            event.preventDefault();
            return;
          }
        }
      }
      if (startsSequence && !inField) first = { key, atMs: now() };
    },
  };

  function hasSequence(sequence: string): boolean {
    return entries.some((entry) =>
      entry.current.shortcuts.some((shortcut) => keysOf(shortcut).some((keys) => keys === sequence)),
    );
  }
}

type KeyOwner = 'page' | 'menu' | 'other';

/** What lies over the page has the keyboard, and nothing opens below it. */
export function dialogIsOpen(): boolean {
  return document.querySelector('[role="dialog"][aria-modal="true"]') !== null;
}

/** Whose key it is: the page's, or of what has opened over it and answers keys of its own (Esc, Tab, Enter are Mantine's). */
function ownerOf(event: KeyboardEvent): KeyOwner {
  if (dialogIsOpen()) return 'other';
  if (!(event.target instanceof Element)) return 'page';
  if (event.target.closest('[role="menu"]') !== null) return 'menu';
  // Notifications, and a field with its choices open, take Esc alone.
  const opened =
    event.target.closest('[role="dialog"]') !== null ||
    (event.target.hasAttribute('aria-haspopup') && event.target.getAttribute('aria-expanded') === 'true');
  return opened && event.key === 'Escape' ? 'other' : 'page';
}

/** In a menu a key that stands beside an item chooses it, which closes the menu as well; no other key reaches the page below. */
function chooseByKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isActivation(event)) return;
  if (!(event.target instanceof Element)) return;
  const pressed = keyOf(event);
  const items = event.target.closest('[role="menu"]')?.querySelectorAll<HTMLElement>('[role="menuitem"]');
  for (const item of items ?? []) {
    const keys = item.querySelector('[data-keys]')?.getAttribute('data-keys');
    if (keys === null || keys === undefined || normal(keys) !== pressed) continue;
    event.preventDefault();
    item.click();
    return;
  }
}

const ShortcutContext = createContext<ShortcutEngine | null>(null);

export function ShortcutProvider({ children }: { readonly children: ReactNode }) {
  const engine = useMemo(() => createShortcutEngine(), []);
  useEffect(() => {
    let ownedBy: KeyOwner = 'page';
    // Before anything else sees the key: what Esc closes may be gone by the time it comes to us, and it must not go up a page as well.
    const look = (event: KeyboardEvent) => {
      ownedBy = ownerOf(event);
    };
    const listener = (event: KeyboardEvent) => {
      if (ownedBy === 'page') engine.handle(event);
      else if (ownedBy === 'menu') chooseByKey(event);
    };
    window.addEventListener('keydown', look, { capture: true });
    document.addEventListener('keydown', listener);
    return () => {
      window.removeEventListener('keydown', look, { capture: true });
      document.removeEventListener('keydown', listener);
    };
  }, [engine]);
  return <ShortcutContext.Provider value={engine}>{children}</ShortcutContext.Provider>;
}

function useEngine(): ShortcutEngine {
  const engine = useContext(ShortcutContext);
  if (engine === null) throw new Error('shortcuts outside of ShortcutProvider');
  return engine;
}

/** Answers keys while the component is shown. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const engine = useEngine();
  const latest = useRef<ShortcutGroup>({ title, shortcuts });
  useEffect(() => {
    latest.current = { title, shortcuts };
  });
  useEffect(() => engine.add(latest), [engine]);
}

export function useShortcutGroups(): ReadableStore<readonly ShortcutGroup[]> {
  return useEngine().groups;
}
