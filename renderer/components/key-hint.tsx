/** A key as printed on it. */
import { useDesktop } from '../state/desktop-context.js';
import { useStore } from '../state/use-store.js';
import { common } from '../strings/common.js';
import styles from './key-hint.module.css';

const printed: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  shift: 'Shift',
  alt: 'Alt',
};

export function KeyHint({ keys }: { readonly keys: string }) {
  const info = useStore(useDesktop().info);
  const modifier = info?.shortcutModifier ?? 'Ctrl';
  const steps = keys.split(' ').map((step) => step.split('+'));
  return (
    <span className={styles['keys']} data-keys={keys}>
      {steps.map((step, index) => (
        <span key={step.join('+')} className={styles['keys']}>
          {index === 0 ? null : <span className="iris-muted">{common.then}</span>}
          {step.map((part) => (
            <kbd key={part} className={styles['key']}>
              {part === 'mod' ? modifier : (printed[part] ?? (part.length === 1 ? part.toUpperCase() : part))}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  );
}
