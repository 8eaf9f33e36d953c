/** How much of something is used, as a thin bar with its numbers beside it. Neutral: colour means state. */
import { memo } from 'react';
import styles from './meter.module.css';

export interface MeterProps {
  readonly label: string;
  /** 0 to 1; null when not measured. */
  readonly value: number | null;
  /** What the bar says in words, for hover and screen readers. */
  readonly text: string;
  /** Little is left. */
  readonly low?: boolean;
}

export const Meter = memo(function Meter({ label, value, text, low = false }: MeterProps) {
  const share = value === null ? 0 : Math.min(1, Math.max(0, value));
  return (
    <span
      className={styles['meter']}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      aria-valuetext={text}
      title={text}
      data-low={low || undefined}
    >
      <span className={styles['fill']} style={{ transform: `scaleX(${share})` }} />
    </span>
  );
});
