/** Times: relative with the exact one on hover, and durations that grow while something runs. */
import { formatDuration } from '../../core/formats/durations.js';
import { common, formatAge, formatExactTime } from '../strings/common.js';
import { useTimeText } from './clock.js';

export interface RelativeTimeProps {
  readonly atMs: number;
  /** `2h ago` instead of `2h`. */
  readonly long?: boolean;
}

export function RelativeTime({ atMs, long = false }: RelativeTimeProps) {
  const text = useTimeText((now) => (long ? common.ago(now - atMs) : formatAge(now - atMs)));
  return (
    <time dateTime={new Date(atMs).toISOString()} title={formatExactTime(atMs)}>
      {text}
    </time>
  );
}

/** Time since something started, growing. */
export function RunningFor({ startedAtMs }: { readonly startedAtMs: number }) {
  const text = useTimeText((now) => formatDuration(Math.floor(Math.max(0, now - startedAtMs) / 1000) * 1000));
  return <span title={formatExactTime(startedAtMs)}>{text}</span>;
}
