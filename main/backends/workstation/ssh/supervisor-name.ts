/** Named by its content, so that a newer version never changes a text that a running shell is still reading. */
import { createHash } from 'node:crypto';

export function supervisorName(text: string): string {
  return `.supervisor-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.sh`;
}
