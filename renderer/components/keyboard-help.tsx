/** All keys that work now, in a dialog. */
import { useStore } from '../state/use-store.js';
import { common } from '../strings/common.js';
import { Dialog } from './dialog.js';
import { KeyHint } from './key-hint.js';
import { keysOf, useShortcutGroups } from './shortcuts.js';
import styles from './keyboard-help.module.css';

export interface KeyboardHelpProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function KeyboardHelp({ opened, onClose }: KeyboardHelpProps) {
  const groups = useStore(useShortcutGroups());
  return (
    <Dialog opened={opened} onClose={onClose} title={common.keysTitle} size="lg">
      <div className={styles['groups']}>
        {[...groups].reverse().map((group) => (
          <section key={group.title}>
            <h2 className={styles['title']}>{group.title}</h2>
            <dl className={styles['list']}>
              {group.shortcuts.map((shortcut) =>
                shortcut.label === undefined ? null : (
                  <div key={shortcut.label} className={styles['line']}>
                    <dt>{shortcut.label}</dt>
                    <dd>
                      {(shortcut.shown ?? keysOf(shortcut)).map((keys) => (
                        <KeyHint key={keys} keys={keys} />
                      ))}
                    </dd>
                  </div>
                ),
              )}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
